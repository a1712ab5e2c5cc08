package job

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"time"

	"golang.org/x/term"

	"github.com/strandmp/strand/internal/launcher/local"
	"github.com/strandmp/strand/internal/lines"
)

// maxHeld bounds how much of an unfinished line is held back. A longer line is
// passed on in parts.
const maxHeld = 1 << 20

// promptTime is how long a line may stay unfinished before a terminal shows it as it is: it may
// be a question.
const promptTime = 100 * time.Millisecond

// console joins the output of all ranks. Lines of two ranks never mix.
type console struct {
	failure chan error    // the first write that failed
	givenUp chan struct{} // closed when the launcher no longer waits for readers
}

func newConsole() *console {
	return &console{failure: make(chan error, 1), givenUp: make(chan struct{})}
}

// A sink is one of the launcher's own outputs. Its reader may not read for any time. So a
// goroutine of its own writes, which can be left behind.
type sink struct {
	console *console
	to      io.Writer
	shown   bool          // it is a terminal
	turn    chan struct{} // holds a token while somebody uses what follows
	text    chan []byte   // for the goroutine that writes
	written chan error    // its answer

	open    *stream // the stream whose unfinished line was passed on last, or nil
	scratch []byte
	broken  bool
}

// sinks returns the sinks of standard output and standard error. They are the same one if both
// lead to the same place.
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
			k.written <- lines.WriteAll(k.to, text)
		}
	}()
	return k
}

// samePlace reports whether two writers are one, or are files that lead to one terminal, pipe or
// file.
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

// close ends the goroutine that writes. If that was left behind in a write, it ends with the
// write.
func (k *sink) close() { close(k.text) }

// take waits for the turn. It returns false when the launcher no longer waits for readers.
func (k *sink) take() bool {
	select {
	case k.turn <- struct{}{}:
		return true
	case <-k.console.givenUp:
		return false
	}
}

func (k *sink) release() { <-k.turn }

// errGivenUp: the launcher no longer waits for the end of the write.
var errGivenUp = errors.New("nobody reads it")

// print writes text. The caller has the turn. After errGivenUp it must keep both the turn and
// the text for ever: the write may still be under way.
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
	// The streams report a broken output.
	if line == "" || k.print([]byte(line)) != errGivenUp { //nolint:errorlint // it is not wrapped
		k.release()
	}
}

// finishLine ends an unfinished line, so that something else can follow.
func (k *sink) finishLine() { k.note("") }

// write writes a stream's lines, in one write. The last one may be unfinished. If another
// stream's line is unfinished, this stream starts a new one.
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
		case k.console.failure <- &OutputError{s.rank, err}:
		default:
		}
	}
	k.release()
}

// An outlet is what a rank writes, wherever it runs.
type outlet interface {
	// Read waits for patience at most, and without limit if that is 0. Its error is [io.EOF] at
	// the end, and [local.ErrQuiet] if nothing came meanwhile.
	Read(p []byte, patience time.Duration) (int, error)
	// End notes that all ranks have ended: who still holds the output is not heard for long.
	End()
	Close() error
}

// A stream is one rank's standard output or standard error.
type stream struct {
	sink   *sink
	prefix string
	rank   int
	pipe   outlet
	held   []byte // an unfinished line
	lack   *lack  // of standard error: what is said there is heeded
}

// forward passes on all that the rank writes, and returns at its end.
func (s *stream) forward() {
	s.held = make([]byte, 0, 4<<10)
	for {
		if len(s.held) == cap(s.held) {
			s.makeRoom()
		}
		var patience time.Duration // for the end of an unfinished line
		if s.sink.shown && len(s.held) > 0 {
			patience = promptTime
		}
		n, err := s.pipe.Read(s.held[len(s.held):cap(s.held)], patience)
		s.held = s.held[:len(s.held)+n]
		if end := bytes.LastIndexByte(s.held[len(s.held)-n:], '\n') + 1; end > 0 {
			s.pass(len(s.held) - n + end)
		}
		if err != nil {
			s.pass(len(s.held))
		}
		if err != nil && err != local.ErrQuiet { //nolint:errorlint // it is not wrapped
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
		if s.lack != nil {
			s.lack.heed(s.held[:n])
		}
		s.sink.write(s, s.held[:n])
		s.held = s.held[:copy(s.held, s.held[n:])]
	}
}
