package local

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"
	"time"

	"golang.org/x/term"
)

// maxHeld bounds how much of an unfinished line is held back. A longer line is
// passed on in parts.
const maxHeld = 1 << 20

// promptTime is how long a line may stay unfinished on a terminal before it is shown as it
// is: it may be a question.
const promptTime = 100 * time.Millisecond

// After the last rank has exited, only what escaped from its process group can
// still hold an output pipe. These bound how long and how much is heard of it.
const (
	lastWordsTime  = time.Second
	lastWordsBytes = 1 << 20
)

// console joins the output of all ranks. Lines of two ranks never mix.
type console struct {
	failure chan error    // the first write that failed
	givenUp chan struct{} // closed when nobody waits any more for who reads the output
}

func newConsole() *console {
	return &console{failure: make(chan error, 1), givenUp: make(chan struct{})}
}

// A sink is one of the launcher's own outputs. Who reads it may not read, for any time:
// so a goroutine of its own writes, and can be left behind.
type sink struct {
	console *console
	to      io.Writer
	shown   bool          // to somebody at a terminal
	turn    chan struct{} // holds a token while somebody uses what follows
	text    chan []byte   // for the goroutine that writes
	written chan error    // its answer

	open    *stream // whose unfinished line was passed on last, or nil
	scratch []byte
	broken  bool
}

// sinks returns those of standard output and standard error: the same one if both lead to
// the same place.
func (c *console) sinks(stdout, stderr io.Writer) [2]*sink {
	out := c.sink(stdout)
	if samePlace(stdout, stderr) {
		return [2]*sink{out, out}
	}
	return [2]*sink{out, c.sink(stderr)}
}

func (c *console) sink(to io.Writer) *sink {
	if to == nil {
		to = io.Discard
	}
	k := &sink{console: c, to: to, turn: make(chan struct{}, 1), text: make(chan []byte), written: make(chan error, 1)}
	if f, isFile := to.(*os.File); isFile {
		k.shown = term.IsTerminal(int(f.Fd()))
	}
	go func() {
		for text := range k.text {
			_, err := k.to.Write(text)
			k.written <- err
		}
	}()
	return k
}

// samePlace tells whether two writers are one, or files that are one terminal, pipe or file.
func samePlace(a, b io.Writer) bool {
	if a == nil || b == nil {
		return false
	}
	f, isFile := a.(*os.File)
	g, isToo := b.(*os.File)
	if !isFile || !isToo {
		return reflect.TypeOf(a).Comparable() && a == b
	}
	first, err := f.Stat()
	second, err2 := g.Stat()
	return err == nil && err2 == nil && os.SameFile(first, second)
}

// close ends the goroutine that writes. One that is left behind in a write ends with that.
func (k *sink) close() { close(k.text) }

// take gets the turn, unless nobody waits for readers any more.
func (k *sink) take() bool {
	select {
	case k.turn <- struct{}{}:
		return true
	case <-k.console.givenUp:
		return false
	}
}

func (k *sink) release() { <-k.turn }

// errGivenUp: nobody waits for the end of that write.
var errGivenUp = errors.New("nobody reads it")

// print writes. Whoever has the turn calls it, and keeps the turn, and the text, for ever if it is given up.
func (k *sink) print(text []byte) error {
	k.text <- text
	select {
	case err := <-k.written:
		return err
	case <-k.console.givenUp:
		return errGivenUp
	}
}

// note writes a line of the launcher's own.
func (k *sink) note(line string) {
	if !k.take() {
		return
	}
	if k.open != nil {
		k.open = nil
		line = "\n" + line
	}
	// A broken output is the streams' to report.
	if line == "" || k.print([]byte(line)) != errGivenUp { //nolint:errorlint // it is not wrapped
		k.release()
	}
}

// finishLine ends an unfinished line, so that something else may follow.
func (k *sink) finishLine() { k.note("") }

// write writes a stream's lines, in one write. The last one may be unfinished;
// another stream's line does not go on in it but starts a new one.
func (k *sink) write(s *stream, text []byte) {
	if !k.take() {
		return
	}
	if k.broken { // go on reading: a rank must not block on it
		k.release()
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
	err := k.print(out)
	if err == errGivenUp { //nolint:errorlint // it is not wrapped
		return
	}
	if err != nil {
		k.broken = true
		select {
		case k.console.failure <- fmt.Errorf("can not pass on the output of rank %s: %w", s.pipe.name, err):
		default:
		}
	}
	k.release()
}

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
		var patience time.Duration // for the end of the line
		if s.sink.shown && len(s.held) > 0 {
			patience = promptTime
		}
		n, err := s.pipe.read(s.held[len(s.held):cap(s.held)], patience)
		s.held = s.held[:len(s.held)+n]
		if end := bytes.LastIndexByte(s.held[len(s.held)-n:], '\n') + 1; end > 0 {
			s.pass(len(s.held) - n + end)
		}
		if err != nil {
			s.pass(len(s.held))
		}
		if err != nil && err != errQuiet { //nolint:errorlint // it is not wrapped
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

// A tap is the launcher's end of an output pipe.
type tap struct {
	name string
	file *os.File

	mu     sync.Mutex // for the time until which a read may wait
	ended  bool       // the ranks have exited
	budget int        // what may still come after that; the reader's
}

// errQuiet: nothing has come for as long as was to be waited for.
var errQuiet = errors.New("nothing comes")

// read waits for the patience at most, for any time if that is 0.
func (t *tap) read(p []byte, patience time.Duration) (int, error) {
	ended := t.bound(patience)
	if ended {
		if t.budget <= 0 {
			return 0, io.EOF
		}
		p = p[:min(len(p), t.budget)]
	}
	n, err := t.file.Read(p)
	if ended {
		t.budget -= n
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if err = io.EOF; !ended {
			err = errQuiet // or the ranks have exited meanwhile, and the next read finds out
		}
	}
	return n, err
}

// bound limits the next read, and tells whether no rank is left to write.
func (t *tap) bound(patience time.Duration) (ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var until time.Time
	switch {
	case t.ended:
		until = time.Now().Add(lastWordsTime)
	case patience > 0:
		until = time.Now().Add(patience)
	}
	_ = t.file.SetReadDeadline(until) // fails only at its end
	return t.ended
}

// end tells that no rank is left to write.
func (t *tap) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	_ = t.file.SetReadDeadline(time.Now().Add(lastWordsTime))
}
