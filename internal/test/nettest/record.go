//go:build linux

package nettest

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Line is one line of a rank's output.
type Line struct {
	Text   string
	Stderr bool
	At     time.Time // when it arrived
}

// record is what is known of a job from the launcher's output: the ranks'
// lines, "[3] text", and its own about them, "strand run: rank 3: …".
type record struct {
	mu      sync.Mutex
	ranks   []rankRecord
	changed chan struct{} // closed at the next change
	writers []*lineWriter
}

type rankRecord struct {
	lines  []Line
	pid    int
	status string
}

func newRecord(ranks int) *record {
	return &record{ranks: make([]rankRecord, ranks), changed: make(chan struct{})}
}

// changes returns a channel that is closed when more is known.
func (k *record) changes() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.changed
}

func (k *record) note(line Line) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if tag, text, ok := strings.Cut(line.Text, "] "); ok && strings.HasPrefix(tag, "[") {
		if r := k.rank(tag[1:]); r != nil {
			line.Text = text
			r.lines = append(r.lines, line)
		}
	} else if about, ok := strings.CutPrefix(line.Text, "strand run: rank "); ok {
		k.noteRank(about)
	}
	close(k.changed)
	k.changed = make(chan struct{})
}

// noteRank reads "3: exited with status 0", "3: ended by SIGKILL" and "3 on
// host name: started, pid 12".
func (k *record) noteRank(about string) {
	who, what, _ := strings.Cut(about, ": ")
	number, _, _ := strings.Cut(who, " ")
	r := k.rank(number)
	if r == nil {
		return
	}
	if pid, ok := strings.CutPrefix(what, "started, pid "); ok {
		r.pid, _ = strconv.Atoi(pid) // 0 is none
	}
	if strings.HasPrefix(what, "exited with status ") || strings.HasPrefix(what, "ended by ") {
		r.status = what
	}
}

func (k *record) rank(number string) *rankRecord {
	rank, err := strconv.Atoi(number)
	if err != nil || rank < 0 || rank >= len(k.ranks) {
		return nil
	}
	return &k.ranks[rank]
}

// writer returns a writer of the launcher's standard output or error.
func (k *record) writer(stderr bool) io.Writer {
	w := &lineWriter{record: k, stderr: stderr}
	k.writers = append(k.writers, w)
	return w
}

// finish notes lines without an end.
func (k *record) finish() {
	for _, w := range k.writers {
		if len(w.rest) > 0 {
			_, _ = fmt.Fprintln(w)
		}
	}
}

type lineWriter struct {
	record *record
	stderr bool
	rest   []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte{'\n'})
		if !found {
			return len(p), nil
		}
		w.record.note(Line{Text: string(line), Stderr: w.stderr, At: time.Now()})
		w.rest = rest
	}
}
