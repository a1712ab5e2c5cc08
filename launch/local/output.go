package local

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// maxHeld bounds how much of an unfinished line is held back. A longer line is
// passed on in parts.
const maxHeld = 1 << 20

// After the last rank has exited, only what escaped from its process group can
// still hold an output pipe. These bound how long and how much is heard of it.
const (
	lastWordsTime  = time.Second
	lastWordsBytes = 1 << 20
)

// console joins the output of all ranks. Lines of two ranks never mix.
type console struct {
	mu      sync.Mutex // both sinks: they may well be one terminal
	failure chan error // the first write that failed
}

// A sink is one of the launcher's own outputs.
type sink struct {
	console *console
	to      io.Writer
	open    *stream // whose unfinished line was passed on last, or nil
	scratch []byte
	broken  bool
}

func (c *console) sink(to io.Writer) *sink {
	if to == nil {
		to = io.Discard
	}
	return &sink{console: c, to: to}
}

// note writes a line of the launcher's own.
func (k *sink) note(line string) {
	k.console.mu.Lock()
	defer k.console.mu.Unlock()
	if k.open != nil {
		k.open = nil
		line = "\n" + line
	}
	_, _ = io.WriteString(k.to, line) // a broken output is the streams' to report
}

// finishLine ends an unfinished line, so that something else may follow.
func (k *sink) finishLine() { k.note("") }

// A stream is one rank's standard output or standard error.
type stream struct {
	sink   *sink
	prefix string
	pipe   *tap
	held   []byte // an unfinished line
}

// forward passes on all that the rank writes, and returns at its end.
func (s *stream) forward() {
	s.held = make([]byte, 0, 4<<10)
	for {
		if len(s.held) == cap(s.held) {
			s.makeRoom()
		}
		n, err := s.pipe.Read(s.held[len(s.held):cap(s.held)])
		s.held = s.held[:len(s.held)+n]
		if end := bytes.LastIndexByte(s.held[len(s.held)-n:], '\n') + 1; end > 0 {
			s.pass(len(s.held) - n + end)
		}
		if err != nil {
			s.pass(len(s.held))
			return
		}
	}
}

// makeRoom grows the buffer, or passes on part of a line that is too long.
func (s *stream) makeRoom() {
	if cap(s.held) >= maxHeld {
		s.pass(len(s.held))
		return
	}
	grown := make([]byte, len(s.held), min(2*cap(s.held), maxHeld))
	copy(grown, s.held)
	s.held = grown
}

// pass hands the first n held bytes to the sink.
func (s *stream) pass(n int) {
	if n > 0 {
		s.sink.write(s, s.held[:n])
		s.held = s.held[:copy(s.held, s.held[n:])]
	}
}

// write writes a stream's lines, in one write. The last one may be unfinished;
// another stream's line does not go on in it but starts a new one.
func (k *sink) write(s *stream, text []byte) {
	k.console.mu.Lock()
	defer k.console.mu.Unlock()
	if k.broken {
		return
	}
	out := k.scratch[:0]
	if k.open != nil && k.open != s {
		out = append(out, '\n')
	}
	continued := k.open == s
	for line := range bytes.Lines(text) {
		if !continued {
			out = append(out, s.prefix...)
		}
		continued = false
		out = append(out, line...)
	}
	k.open = nil
	if text[len(text)-1] != '\n' {
		k.open = s
	}
	k.scratch = out
	if _, err := k.to.Write(out); err != nil {
		k.broken = true // go on reading: a rank must not block on it
		select {
		case k.console.failure <- fmt.Errorf("can not pass on the output of rank %s: %w", s.pipe.name, err):
		default:
		}
	}
}

// A tap is the launcher's end of an output pipe.
type tap struct {
	name   string
	file   *os.File
	ended  atomic.Bool // the ranks have exited
	budget int         // what may still come after that; the reader's
}

func (t *tap) Read(p []byte) (int, error) {
	if t.ended.Load() {
		if t.budget <= 0 {
			return 0, io.EOF
		}
		p = p[:min(len(p), t.budget)]
		_ = t.file.SetReadDeadline(time.Now().Add(lastWordsTime))
	}
	n, err := t.file.Read(p)
	if t.ended.Load() {
		t.budget -= n
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

// end tells that no rank is left to write.
func (t *tap) end() {
	t.ended.Store(true)
	_ = t.file.SetReadDeadline(time.Now().Add(lastWordsTime)) // fails only at its end
}
