package sctp

import (
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// options are what two sides may differ in, by the bits of a number for each.
func options(bits int) func(*Config) {
	return func(c *Config) {
		c.Interleave = bits&1 != 0
		if bits&2 != 0 {
			c.ZeroChecksum = 1
		}
		if bits&4 != 0 {
			c.Held = time.Millisecond
		}
	}
}

// losing loses the packets of some places, counted from now on.
func losing(places ...int) func(datagram) bool {
	n := -1
	return func(datagram) bool {
		n++
		return !slices.Contains(places, n)
	}
}

// together checks that two nodes have one association, the same one, and that it carries data and ends in order.
func together(t *testing.T, w *world, a, b *node, name string) {
	w.run(w.now+time.Minute, nil)
	require.Equal(t, 1, a.Len(), name)
	require.Equal(t, 1, b.Len(), name)
	at := func(n *node) *user {
		return n.users[slices.IndexFunc(n.users, func(u *user) bool { return u.a.state != Closed })]
	}
	here, there := at(a), at(b)
	require.Equal(t, Established, here.a.state, name)
	require.Equal(t, Established, there.a.state, name)
	require.Equal(t, here.a.tag, there.a.peerTag, name)
	require.Equal(t, there.a.tag, here.a.peerTag, name)
	require.Equal(t, a.config.Interleave && b.config.Interleave, here.a.interleave, name)
	require.Equal(t, here.a.interleave, there.a.interleave, name)
	both := a.config.ZeroChecksum != 0 && b.config.ZeroChecksum != 0
	require.True(t, here.a.zeroOut == both && there.a.zeroOut == both, name)
	require.Equal(t, b.config.Held, here.a.peerHeld, name)
	require.Equal(t, a.config.Held, there.a.peerHeld, name)
	exchange(t, w, here, there)
	here.a.Shutdown(w.at())
	a.flush(here.a)
	w.run(w.now+time.Minute, func() bool { return here.down != nil && there.down != nil })
	require.Equal(t, io.EOF, here.down, name)
	require.Equal(t, io.EOF, there.down, name)
	require.Zero(t, a.Len()+b.Len()+len(a.byPeer)+len(b.byPeer), name)
}

// every calls try without each one of the first packets of an exchange, for two sides that have the same options, or not, and without each two of them
// where neither has any.
func every(try func(ours, theirs func(*Config), tap func(datagram) bool, name string)) {
	const most = 9
	for _, sides := range [][2]int{{0, 0}, {7, 7}, {7, 0}, {0, 7}, {1, 6}, {2, 5}, {4, 3}} {
		for i := range most {
			for j := i; j < most && (j == i || sides == [2]int{}); j++ {
				try(options(sides[0]), options(sides[1]), losing(i, j), fmt.Sprintf("options %v, without packets %d and %d", sides, i, j))
			}
		}
	}
}

// One side begins, or both do, whatever is lost of that.
func TestEveryLossAsItBegins(t *testing.T) {
	for _, both := range []time.Duration{-1, 0, 7 * time.Millisecond} {
		every(func(ours, theirs func(*Config), tap func(datagram) bool, name string) {
			w := newWorld(t, 1, 1, quiet())
			w.tap = tap
			a, b := w.join(0, 1, ours), w.join(1, 1, theirs)
			a.call(b)
			if both >= 0 {
				w.run(both, nil)
				if b.Len() == 0 {
					b.call(a)
				}
			}
			together(t, w, a, b, fmt.Sprint(both, ", ", name))
		})
	}
}

// A peer restarts while data is under way in both directions, with other options than before, whatever is lost of that.
func TestEveryLossAsAPeerRestarts(t *testing.T) {
	every(func(ours, theirs func(*Config), tap func(datagram) bool, name string) {
		w := newWorld(t, 1, 1, quiet())
		a, b := w.join(0, 1, ours), w.join(1, 1, ours)
		here := a.call(b)
		w.run(time.Second, nil)
		here.say(1, 5000)
		here.other(b).say(1, 5000)
		w.run(w.now+3*time.Millisecond, nil)
		b.dead = true
		again := w.join(1, 1, theirs)
		w.tap = tap
		again.call(a)
		together(t, w, a, again, name)
		require.ErrorIs(t, here.down, ErrRestarted, name)
	})
}

// An association ends in order while the other side has data to send, or does the same, whatever is lost of that. All that was pushed before
// arrives.
func TestEveryLossAsItEnds(t *testing.T) {
	for _, also := range []bool{false, true} {
		every(func(ours, theirs func(*Config), tap func(datagram) bool, name string) {
			w := newWorld(t, 1, 1, quiet())
			a, b := w.join(0, 1, ours), w.join(1, 1, theirs)
			here := a.call(b)
			w.run(time.Second, nil)
			there := here.other(b)
			w.tap = tap
			here.say(1, 3000)
			there.say(1, 3000)
			here.a.Shutdown(w.at())
			a.flush(here.a)
			if also {
				there.a.Shutdown(w.at())
				b.flush(there.a)
			}
			w.run(w.now+time.Minute, func() bool { return here.down != nil && there.down != nil })
			require.Equal(t, io.EOF, here.down, name)
			require.Equal(t, io.EOF, there.down, name)
			require.Equal(t, 2, here.received+there.received, name)
			require.Zero(t, a.Len()+b.Len()+len(a.byPeer)+len(b.byPeer), name)
		})
	}
}

// An association is aborted, and begun anew at once from the same port, while data is under way, whatever is lost of that.
func TestEveryLossAsItIsBegunAnew(t *testing.T) {
	every(func(ours, theirs func(*Config), tap func(datagram) bool, name string) {
		w := newWorld(t, 1, 1, quiet())
		a, b := w.join(0, 1, ours), w.join(1, 1, theirs)
		here := a.call(b)
		w.run(time.Second, nil)
		there := here.other(b)
		here.say(1, 3000)
		there.say(1, 3000)
		w.run(w.now+3*time.Millisecond, nil)
		w.tap = tap
		here.a.Abort("")
		a.flush(here.a)
		a.call(b)
		together(t, w, a, b, name)
		require.Error(t, there.down, name)
	})
}
