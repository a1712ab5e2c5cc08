package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// untouchable is a poller whose descriptor may be somebody else's by now.
type untouchable struct{ t *testing.T }

func (p untouchable) now() int64                    { return 1 }
func (p untouchable) wait([]event, int64) int       { p.t.Error("waited for"); return 0 }
func (p untouchable) kick()                         { p.t.Error("kicked") }
func (p untouchable) calmDown()                     { p.t.Error("calmed down") }
func (p untouchable) doze() bool                    { p.t.Error("dozed in"); return false }
func (p untouchable) alarm(int64)                   { p.t.Error("dozed in") }
func (p untouchable) attend(bool) bool              { p.t.Error("attended to"); return true }
func (p untouchable) rouse()                        { p.t.Error("roused") }
func (p untouchable) add(int, uint64) error         { p.t.Error("added to"); return nil }
func (p untouchable) write(int, uint64, bool) error { p.t.Error("asked for room"); return nil }
func (p untouchable) remove(int)                    { p.t.Error("removed from") }
func (p untouchable) close()                        { p.t.Error("closed again") }

// An engine that is closed touches no descriptor any more, whoever still asks it to make
// progress.
func TestClosedEngineTouchesNoDescriptor(t *testing.T) {
	e := newEngine(t, Options{})
	e.Close()
	e.Lock()
	defer e.Unlock()
	e.poller = untouchable{t}
	source := &counter{}
	for range 2 * clockPolls {
		e.Poll(nil)
		e.Poll(source)
	}
	require.ErrorIs(t, e.Wait(t.Context(), &flag{}, source), ErrClosed)
	require.NoError(t, e.Wait(t.Context(), &flag{done: true}, source))
	require.Zero(t, source.polls)
	e.Post(func() {})
	e.Nudge()
	e.Busy(1)
	e.After(1, func() {}).Stop()
}

// The queue of waiters is first in, first out, and whoever leaves it from the middle
// costs nobody else anything.
func TestWaitersQueue(t *testing.T) {
	var q waiterQueue
	var w [5]waiter
	for i := range w {
		q.push(&w[i])
	}
	q.remove(&w[2])
	q.remove(&w[0])
	q.remove(&w[4])
	q.remove(&w[4])
	q.push(&w[0])
	for _, i := range []int{1, 3, 0} {
		require.Same(t, &w[i], q.first)
		q.remove(q.first)
	}
	require.Equal(t, waiterQueue{}, q)
	require.Equal(t, [5]waiter{}, w)
}
