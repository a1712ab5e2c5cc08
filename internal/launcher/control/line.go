package control

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// A Line is the launcher's end of the channel to one rank. Its methods are safe for any number
// of goroutines. Only Serve and Ask wait for the rank.
type Line struct {
	conn net.Conn

	mu      sync.Mutex
	ended   bool
	out     []order // to be written
	writing sync.WaitGroup
	busy    bool // somebody writes
	asking  bool // a question is out
	askers  []chan answer
}

// An answer is a rank's report, or why it has none.
type answer struct {
	report json.RawMessage
	err    error
}

// NewLine takes over the launcher's end of a socket pair.
func NewLine(conn net.Conn) *Line { return &Line{conn: conn} }

// Heard has the functions that are called for what a rank says unasked. They are called on the
// goroutine of Serve, one at a time.
type Heard struct {
	Warning func(text string)
	// Call: the rank can not connect to the given one, and asks it to connect instead. The
	// number is not checked.
	Call func(rank int)
}

// Serve takes what the rank says, and returns when the channel has ended: with
// nil if the rank, or Close, has ended it. It owns the connection.
func (l *Line) Serve(heard Heard) error {
	err := each(l.conn, maxWord, func(w *word) {
		if w.Warning != "" {
			heard.Warning(w.Warning[:min(len(w.Warning), maxWarning)])
		}
		if w.Call != nil {
			heard.Call(*w.Call)
		}
		switch {
		case w.NoReport != "":
			l.answered(answer{err: errors.New(w.NoReport)})
		case w.Report != nil:
			l.answered(answer{report: w.Report})
		}
	})
	l.Close()
	l.writing.Wait()
	if err == ErrEnded { //nolint:errorlint // by itself: no reason is joined to it
		return nil
	}
	return err
}

// EndWithin ends the channel after d at the latest; what the rank has said is heard before. It
// is for a rank that has exited: a process that it started may still hold its end.
func (l *Line) EndWithin(d time.Duration) {
	_ = l.conn.SetReadDeadline(time.Now().Add(d)) // fails only if it has ended
}

// Close ends the channel. Calls of Ask that wait for an answer get ErrEnded.
func (l *Line) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	_ = l.conn.Close()
	for _, asker := range l.askers {
		close(asker)
	}
	l.askers = nil
}

// Tell lets the rank know that another one has failed.
func (l *Line) Tell(f Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send(order{Failed: &f})
}

// TellLeft answers a call: the rank that was called has left.
func (l *Line) TellLeft(d Departure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send(order{Left: &d})
}

// Call asks the rank to connect to another one, which can not connect to it. It drops the call
// if one by the same rank still waits to be sent.
func (l *Line) Call(by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.ContainsFunc(l.out, func(o order) bool { return o.Called != nil && *o.Called == by }) {
		l.send(order{Called: &by})
	}
}

// Ask returns the rank's report. Its error is what keeps the rank from giving one, ErrEnded, or
// the context's cause: a program that does not use Strand never answers.
func (l *Line) Ask(ctx context.Context) (json.RawMessage, error) {
	asker := make(chan answer, 1)
	l.mu.Lock()
	if l.ended {
		l.mu.Unlock()
		return nil, ErrEnded
	}
	l.askers = append(l.askers, asker)
	if !l.asking {
		l.asking = true
		l.send(order{Report: true})
	}
	l.mu.Unlock()
	select {
	case a, ok := <-asker:
		if !ok {
			return nil, ErrEnded
		}
		return a.report, a.err
	case <-ctx.Done():
		l.mu.Lock()
		l.askers = slices.DeleteFunc(l.askers, func(a chan answer) bool { return a == asker })
		l.mu.Unlock()
		return nil, context.Cause(ctx)
	}
}

// answered hands an answer to all callers that wait for one.
func (l *Line) answered(a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asking = false
	for _, asker := range l.askers {
		asker <- a
	}
	l.askers = nil
}

// send has a goroutine write the order, so that a stopped rank does not hold up the launcher.
// The caller holds the lock.
func (l *Line) send(o order) {
	if l.ended {
		return
	}
	l.out = append(l.out, o)
	if !l.busy {
		l.busy = true
		l.writing.Go(l.write)
	}
}

// write writes until there is nothing left.
func (l *Line) write() {
	for {
		l.mu.Lock()
		batch := l.out
		l.out = nil
		if l.busy = len(batch) > 0 && !l.ended; !l.busy {
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		var lines []byte
		for _, o := range batch {
			lines = append(lines, encode(o)...)
		}
		if _, err := l.conn.Write(lines); err != nil {
			l.Close() // Serve meets the same end
			return
		}
	}
}
