package control

import (
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"
)

// A Member is a rank's end of the channel.
type Member struct {
	conn    net.Conn
	writing sync.Mutex
}

// Callbacks are what a rank does for its launcher. They are called on the goroutine
// of Serve, one at a time.
type Callbacks struct {
	// Failed: a rank of the job has failed, perhaps before this one listened.
	Failed func(Failure)
	// Report returns what encoding/json can write: how things stand.
	Report func() any
}

// NewMember takes over the rank's end of a socket pair.
func NewMember(conn net.Conn) *Member { return &Member{conn: conn} }

// Serve does what the launcher asks until the channel ends.
func (m *Member) Serve(c Callbacks) error {
	return each(m.conn, maxOrder, func(o *order) {
		if o.Failed != nil {
			c.Failed(*o.Failed)
		}
		if o.Report {
			m.report(c.Report())
		}
	})
}

// report answers a question. That the launcher does not read the answer is its own
// affair.
func (m *Member) report(report any) {
	text, err := json.Marshal(report)
	if err != nil || len(text) > maxWord-64 {
		text, _ = json.Marshal(fmt.Sprintf("a report of %d bytes, more than %d: %v", len(text), maxWord, err))
	}
	_ = m.send(word{Report: text}, reportTimeout)
}

// Warn hands a warning to the launcher, which shows it unless another rank has said
// the same. On an error it was not taken.
func (m *Member) Warn(text string) error {
	return m.send(word{Warning: text[:min(len(text), maxWarning)]}, warnTimeout)
}

// How long the launcher may take to make room: who warns may hold locks.
const (
	reportTimeout = 5 * time.Second
	warnTimeout   = 100 * time.Millisecond
)

func (m *Member) send(w word, timeout time.Duration) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	if err := m.conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	_, err := m.conn.Write(encode(w))
	if err != nil {
		_ = m.conn.Close() // perhaps in the middle of a message
	}
	return err
}

// Close ends the channel.
func (m *Member) Close() { _ = m.conn.Close() }
