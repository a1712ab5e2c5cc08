package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// A Member is a rank's end of the channel.
type Member struct {
	conn    net.Conn
	writing chan struct{} // holds a token while somebody writes: a lock with a time limit
}

// Callbacks are what a rank does for its launcher. They are called on the goroutine
// of Serve, one at a time.
type Callbacks struct {
	// Failed: a rank of the job has failed, perhaps before this one listened.
	Failed func(Failure)
	// Left, if it is not nil: a rank that this one has called has left the job in order, before the call
	// or since.
	Left func(Departure)
	// Report returns the state of the rank, as something that encoding/json can write.
	Report func() any
	// Called: rank by can not connect to this one, and asks it to connect instead.
	Called func(by int)
}

// NewMember takes over the rank's end of a socket pair.
func NewMember(conn net.Conn) *Member { return &Member{conn: conn, writing: make(chan struct{}, 1)} }

// Serve does what the launcher asks until the channel ends.
func (m *Member) Serve(c Callbacks) error {
	return each(m.conn, maxOrder, func(o *order) {
		if o.Failed != nil {
			c.Failed(*o.Failed)
		}
		if o.Left != nil && c.Left != nil {
			c.Left(*o.Left)
		}
		if o.Called != nil {
			c.Called(*o.Called)
		}
		if o.Report {
			m.report(c.Report())
		}
	})
}

// report answers a question. It has no time limit: a launcher that does not read the answer has
// no more questions either.
func (m *Member) report(report any) {
	text, err := json.Marshal(report)
	w := word{Report: text}
	switch {
	case err != nil:
		w = word{NoReport: fmt.Sprintf("its report can not be written: %v", err)}
	case len(text) > maxReport:
		w = word{NoReport: fmt.Sprintf("its report has %d bytes, more than %d", len(text), maxReport)}
	}
	m.writing <- struct{}{}
	defer m.unlock()
	_ = m.send(w, time.Time{})
}

var errBusy = errors.New("control: another message is on its way")

// Warn hands a warning to the launcher, which shows the same warning of several ranks once. On
// an error the launcher has not taken it. It waits for warnTimeout at most, since the caller may
// hold locks.
func (m *Member) Warn(text string) error {
	return m.tell(word{Warning: shortened(text)}, warnTimeout)
}

// shortened leaves out the end of a warning that is too long, and says so.
func shortened(text string) string {
	const end = "… (%d bytes more are left out)"
	if len(text) <= maxWarning {
		return text
	}
	kept := strings.ToValidUTF8(text[:maxWarning-len(end)-len("9223372036854775807")], "")
	return kept + fmt.Sprintf(end, len(text)-len(kept))
}

// Call has the launcher ask another rank to connect to this one, or say that it has left. On an error
// that rank was not asked. If the launcher is stopped, Call waits for callTimeout at most.
func (m *Member) Call(rank int) error { return m.tell(word{Call: &rank}, callTimeout) }

// tell writes a message. It has patience to wait for its turn and to write.
func (m *Member) tell(w word, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	select {
	case m.writing <- struct{}{}:
	default:
		late := time.NewTimer(patience)
		defer late.Stop()
		select {
		case m.writing <- struct{}{}:
		case <-late.C:
			return errBusy
		}
	}
	defer m.unlock()
	return m.send(w, deadline)
}

const callTimeout = time.Second

func (m *Member) unlock() { <-m.writing }

// warnTimeout is how long the launcher may take to make room for a warning. If there is no room,
// many messages wait to be read already.
const warnTimeout = 10 * time.Millisecond

// send writes a message. The caller holds the lock.
func (m *Member) send(w word, deadline time.Time) error {
	if err := m.conn.SetWriteDeadline(deadline); err != nil {
		return err
	}
	n, err := m.conn.Write(encode(w))
	if err != nil && n > 0 {
		_ = m.conn.Close() // a message was cut off: the launcher could not read what follows
	}
	return err
}

// Close ends the channel.
func (m *Member) Close() { _ = m.conn.Close() }
