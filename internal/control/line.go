package control

import (
	"context"
	"encoding/json"
	"net"
	"slices"
	"sync"
)

// A Line is the launcher's end of the channel to one rank. Its methods are safe for
// any number of goroutines; none but Serve waits for the rank.
type Line struct {
	conn net.Conn

	mu      sync.Mutex
	ended   bool
	out     []order // to be written
	writing sync.WaitGroup
	busy    bool // somebody writes
	asking  bool // a question is out
	askers  []chan json.RawMessage
}

// NewLine takes over the launcher's end of a socket pair.
func NewLine(conn net.Conn) *Line { return &Line{conn: conn} }

// Serve takes what the rank says, and returns when the channel has ended: with
// nil if the rank, or Close, has ended it. It owns the connection.
func (l *Line) Serve(warned func(text string)) error {
	err := each(l.conn, maxWord, func(w *word) {
		if w.Warning != "" {
			warned(w.Warning[:min(len(w.Warning), maxWarning)])
		}
		if w.Report != nil {
			l.answered(w.Report)
		}
	})
	l.Close()
	l.writing.Wait()
	if err == ErrEnded { //nolint:errorlint // by itself: no reason is joined to it
		return nil
	}
	return err
}

// Close ends the channel. Who waits for an answer gets ErrEnded.
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

// Ask returns the rank's report on how things stand, or the context's cause: a
// program that does not use Strand never answers.
func (l *Line) Ask(ctx context.Context) (json.RawMessage, error) {
	answer := make(chan json.RawMessage, 1)
	l.mu.Lock()
	if l.ended {
		l.mu.Unlock()
		return nil, ErrEnded
	}
	l.askers = append(l.askers, answer)
	if !l.asking {
		l.asking = true
		l.send(order{Report: true})
	}
	l.mu.Unlock()
	select {
	case report, ok := <-answer:
		if !ok {
			return nil, ErrEnded
		}
		return report, nil
	case <-ctx.Done():
		l.mu.Lock()
		l.askers = slices.DeleteFunc(l.askers, func(a chan json.RawMessage) bool { return a == answer })
		l.mu.Unlock()
		return nil, context.Cause(ctx)
	}
}

// answered hands a report to all who wait for one.
func (l *Line) answered(report json.RawMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asking = false
	for _, asker := range l.askers {
		asker <- report
	}
	l.askers = nil
}

// send has a goroutine write the order: a rank that is stopped does not hold up
// the launcher. The lock is held.
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
