package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestWatch(t *testing.T) {
	e := newEngine(t, Options{})
	p := newPair(t, e)
	e.Lock()
	defer e.Unlock()
	e.Poll(nil)
	require.Zero(t, p.polls)
	p.send()
	e.Poll(nil)
	require.Equal(t, 1, p.bytes)
	require.False(t, p.writable)

	p.watch.Write(true)
	p.watch.Write(true)
	e.Poll(nil)
	require.True(t, p.writable)
	p.watch.Write(false)
	p.writable = false
	polls := p.polls
	e.Poll(nil)
	require.Equal(t, polls, p.polls)

	require.NoError(t, unix.Shutdown(p.far, unix.SHUT_RDWR))
	e.Poll(nil)
	require.Greater(t, p.polls, polls, "the end of the stream is an event")

	p.stop()
	p.watch.Stop()
	p.watch.Write(true)
	polls = p.polls
	e.Poll(nil)
	require.Equal(t, polls, p.polls)
}

func TestWatchOfNoDescriptor(t *testing.T) {
	e := newEngine(t, Options{})
	e.Lock()
	defer e.Unlock()
	_, err := e.Watch(-1, &pair{})
	require.Error(t, err)
	require.Len(t, e.watches.free, len(e.watches.slots))
}

func TestStopFromItsOwnHandler(t *testing.T) {
	e := newEngine(t, Options{})
	p := newPair(t, e)
	p.then = p.stop
	e.Lock()
	defer e.Unlock()
	p.send()
	e.Poll(nil)
	require.Equal(t, 1, p.polls)
	e.Poll(nil)
	require.Equal(t, 1, p.polls)
}

// Events of one look at the descriptors: the first handler stops the other's
// watch, closes its descriptor, and watches another, which gets the same number
// and the same place. The event that is still to come must reach neither.
func TestStaleEvent(t *testing.T) {
	e := newEngine(t, Options{})
	pairs := [2]*pair{newPair(t, e), newPair(t, e)}
	e.Lock()
	defer e.Unlock()
	var late *pair
	for i, p := range pairs {
		p.then = func() {
			other := pairs[1-i]
			fd, place := other.near, other.watch.(*watch).token
			other.stop()
			e.Unlock()
			late = newPair(t, e)
			e.Lock()
			require.Equal(t, fd, late.near)
			require.Equal(t, uint32(place), uint32(late.watch.(*watch).token))
			for _, q := range pairs {
				q.then = nil
			}
		}
		p.send()
	}
	e.Poll(nil)
	require.Equal(t, 1, pairs[0].polls+pairs[1].polls)
	require.NotNil(t, late)
	require.Zero(t, late.polls)
	late.send()
	e.Poll(nil)
	require.Equal(t, 1, late.bytes)
}

func TestTokensAreNeverTheKicks(t *testing.T) {
	var table watchTable
	w := &watch{}
	table.insert(w)
	table.slots[0].gen = 1<<31 - 1
	table.remove(w)
	table.insert(w)
	require.Same(t, w, table.lookup(w.token))
	require.Zero(t, w.token>>63)
	require.Nil(t, table.lookup(^uint64(0)))
	require.Nil(t, table.lookup(1))
}

// More descriptors than one look takes: all have their turn.
func TestManyDescriptors(t *testing.T) {
	const descriptors = maxEvents + 20
	e := newEngine(t, Options{})
	left := descriptors
	var f flag
	pairs := make([]*pair, descriptors)
	for i := range pairs {
		pairs[i] = newPair(t, e)
		pairs[i].then = func() {
			if left--; left == 0 {
				f.set(e)
			}
		}
	}
	e.Lock()
	for _, p := range pairs {
		p.send()
	}
	e.Unlock()
	require.NoError(t, e.waitFor(watchdog(t), &f, nil))
}
