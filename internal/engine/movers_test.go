package engine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// load is a Mover whose Move waits until the test lets it go.
type load struct {
	e       *Engine
	none    bool          // there is nothing to move
	moving  chan struct{} // closed as Move begins
	release chan struct{} // nil: Move does not wait
	most    int
	polling bool // in End: up-calls may be made
	ended   int
	then    func() // in End
}

func newLoad(e *Engine) *load {
	return &load{e: e, moving: make(chan struct{}), release: make(chan struct{})}
}

func (l *load) Begin(most int) bool {
	l.most = most
	return !l.none
}

func (l *load) Move() {
	close(l.moving)
	if l.release != nil {
		<-l.release
	}
}

func (l *load) End() bool {
	l.ended++
	l.polling = l.e.polling
	if l.then != nil {
		l.then()
	}
	return true
}

var _ btl.Mover = (*load)(nil)

// Who gives a move makes it as it releases the lock. Meanwhile the lock is free, and others send and
// wait.
func TestMoveLeavesTheLock(t *testing.T) {
	e := newEngine(t, Options{Spin: patience})
	l := newLoad(e)
	given := make(chan struct{})
	go func() {
		defer close(given)
		e.Lock()
		e.Move(l)
		require.Zero(t, l.ended, "nothing is moved within the call that gives the move")
		e.Unlock()
	}()
	<-l.moving
	var f flag
	s := &counter{at: func(n int) bool {
		f.done = n == 100
		return true // who finds something does not park
	}}
	require.NoError(t, e.waitFor(watchdog(t), &f, s), "another one waits, and polls, meanwhile")
	e.Lock()
	require.Zero(t, l.ended)
	e.Unlock()
	close(l.release)
	<-given
	require.Equal(t, 1, l.ended)
	require.True(t, l.polling, "End is an up-call as any other")
	require.Equal(t, moveAlone, l.most)
}

// A waiter that polls makes the moves that its polls give, and sees at once what they bring. It keeps
// the role meanwhile.
func TestMoveOfAWaiter(t *testing.T) {
	e := newEngine(t, Options{Spin: patience})
	l := newLoad(e)
	var f flag
	l.then = func() { f.done = true }
	s := &counter{at: func(n int) bool {
		if n == 3 {
			e.Move(l)
		}
		return true
	}}
	done := make(chan error)
	go func() { done <- e.waitFor(watchdog(t), &f, s) }()
	<-l.moving
	e.Lock()
	require.NotNil(t, e.holder)
	require.False(t, e.blocked)
	require.False(t, e.polling, "who has the lock now may wait")
	e.Unlock()
	close(l.release)
	require.NoError(t, <-done)
	require.Equal(t, 3, s.polls)
}

// If somebody waits for the role, or for the lock, a move is short.
func TestMoveIsShortIfSomebodyWaits(t *testing.T) {
	e := newEngine(t, Options{Spin: patience})
	first, second := newLoad(e), newLoad(e)
	second.release = nil
	var f, g flag
	second.then = func() {
		f.set(e)
		g.set(e)
	}
	first.then = func() { e.Move(second) }
	s := &counter{at: func(n int) bool {
		if n == 1 {
			e.Move(first)
		}
		return true
	}}
	done := make(chan error, 2)
	go func() { done <- e.waitFor(watchdog(t), &f, s) }()
	<-first.moving
	go func() { done <- e.waitFor(watchdog(t), &g, nil) }()
	e.until(t, "the other one is parked", func() bool { return e.queue.first != nil })
	close(first.release)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.Equal(t, moveAlone, first.most)
	require.Equal(t, moveShared, second.most)
}

// The background goroutine may lose the role while it moves. It ends the move, and nothing else.
func TestMoveOfTheBackgroundWithoutItsRole(t *testing.T) {
	e := newEngine(t, Options{Spin: patience})
	p := newPair(t, e)
	l := newLoad(e)
	p.then = func() { e.Move(l) }
	e.untilBackground(t)
	p.send()
	<-l.moving
	var f flag
	s := &counter{at: func(n int) bool {
		f.done = n == 100
		return true
	}}
	require.NoError(t, e.waitFor(watchdog(t), &f, s))
	close(l.release)
	e.until(t, "the move has ended", func() bool { return l.ended == 1 })
	e.untilBackground(t)
	p.then = nil
	p.send()
	e.until(t, "what comes later is seen", func() bool { return p.bytes == 2 })
}

// Test makes the moves that its poll gives. The engine may be closed meanwhile.
func TestMoveOfAPoll(t *testing.T) {
	e := newEngine(t, Options{Spin: patience})
	l := newLoad(e)
	s := &counter{at: func(int) bool {
		e.Move(l)
		return true
	}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Lock()
		defer e.Unlock()
		e.Poll(s)
		require.Equal(t, 1, l.ended)
	}()
	<-l.moving
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		e.Close()
	}()
	e.until(t, "the engine is closed", func() bool { return e.closed })
	close(l.release)
	<-done
	<-closed
}

// A wait whose context ends during a move ends when the move has.
func TestMoveAndCancel(t *testing.T) {
	e := newEngine(t, Options{Spin: patience})
	l := newLoad(e)
	ctx, cancel := context.WithCancel(watchdog(t))
	var f flag
	s := &counter{at: func(n int) bool {
		if n == 1 {
			e.Move(l)
		}
		return true
	}}
	done := make(chan error)
	go func() { done <- e.waitFor(ctx, &f, s) }()
	<-l.moving
	cancel()
	close(l.release)
	require.ErrorIs(t, <-done, context.Canceled)
	require.Equal(t, 1, l.ended)
}

// A Mover that has nothing to move is asked once.
func TestMoveOfNothing(t *testing.T) {
	e := newEngine(t, Options{Spin: patience})
	l := newLoad(e)
	l.none = true
	e.Lock()
	e.Move(l)
	e.Unlock()
	require.Zero(t, l.ended)
	require.Equal(t, moveAlone, l.most)
}

// Who waits for a moment only keeps the lock. A move that its polls give is made as the lock is released, or by a wait.
func TestMoveOfABriefWait(t *testing.T) {
	for _, over := range []int{1, 2} {
		e := newEngine(t, Options{Spin: patience})
		l := newLoad(e)
		l.release = nil
		p := &prompter{over: over}
		s := &counter{at: func(int) bool {
			if l.ended == 0 {
				e.Move(l)
			}
			return p.Poll()
		}}
		e.Lock()
		require.Equal(t, over == 1, e.Briefly(p, s))
		require.Zero(t, l.ended)
		require.Nil(t, e.holder)
		e.Unlock()
		require.Equal(t, 1, l.ended)
	}
}

// A wait heeds its context though moves go on: each has another one made as it ends.
func TestContextEndsWhileMovesGoOn(t *testing.T) {
	e := newEngine(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	on := &onward{e: e, at: func(n int) {
		if n == 10 {
			cancel()
		}
	}}
	e.Lock()
	defer e.Unlock()
	e.Move(on)
	err := e.Wait(ctx, &flag{}, nil)
	on.over = true
	require.ErrorIs(t, err, context.Canceled)
}

// onward is a Mover that goes on and on, as long as a peer takes what is sent.
type onward struct {
	e     *Engine
	moves int
	at    func(n int)
	over  bool
}

func (o *onward) Begin(int) bool { return !o.over }

func (o *onward) Move() {
	o.moves++
	o.at(o.moves)
}

func (o *onward) End() bool {
	o.e.Move(o)
	return true
}
