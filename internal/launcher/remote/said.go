package remote

import (
	"bytes"
	"sync"

	"github.com/strandmp/strand/internal/lines"
)

// errorOutput takes what the remote shell and strand there write to their standard error. Until
// strand has introduced itself that may be why it does not.
type errorOutput struct {
	host    string
	mu      sync.Mutex
	first   *lines.Beginning
	passing bool
	note    func(line string)
	held    []byte // an unfinished line
}

func (e *errorOutput) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.passing {
		return e.first.Write(p)
	}
	e.held = append(e.held, p...)
	for {
		line, rest, found := bytes.Cut(e.held, []byte("\n"))
		if !found {
			e.held = e.held[:copy(e.held, e.held[max(0, len(e.held)-longestNote):])]
			return len(p), nil
		}
		e.tell(line)
		e.held = e.held[:copy(e.held, rest)]
	}
}

// longestNote bounds how much of a line is held.
const longestNote = 64 << 10

func (e *errorOutput) firstWords() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.first.String()
}

// pass has what comes from now on told at once.
func (e *errorOutput) pass() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.passing = true
}

// end tells a last line that is unfinished.
func (e *errorOutput) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.held) > 0 {
		e.tell(e.held)
		e.held = nil
	}
}

func (e *errorOutput) tell(line []byte) {
	if e.note != nil {
		e.note("host " + e.host + ": " + string(line) + "\n")
	}
}
