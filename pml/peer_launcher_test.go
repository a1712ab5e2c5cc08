package pml

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

var errKilled = errors.New("it was killed by signal 9 (SIGKILL)")

// checkDoomed checks that an operation has ended with what the launcher said.
func checkDoomed(t *testing.T, op *operation) {
	t.Helper()
	require.True(t, op.done)
	var failed *PeerFailedError
	require.ErrorAs(t, op.err, &failed)
	assert.Equal(t, PeerFailedError{Rank: 1, Host: "node1", Cause: errKilled, group: op.context.group}, *failed)
}

// What a peer has sent before it died is received, though the launcher was quicker:
// it has failed when its connection ends.
func TestLauncherOvertakesThePeer(t *testing.T) {
	pe, _, c := receiving(t)
	pe.ways.Met = true
	first, second := post(t, c, make([]byte, 10)), post(t, c, make([]byte, 10))
	pe.doom("node1", errKilled)
	pe.doom("node2", errors.New("said again"))
	require.False(t, first.done)
	eager := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted}
	require.NoError(t, pe.rails[0].Deliver(encoded(eager), make([]byte, 10)))
	require.True(t, first.done)
	require.NoError(t, first.err)
	require.False(t, second.done)
	pe.rails[0].Down(io.ErrUnexpectedEOF)
	checkDoomed(t, second)
}

// A connection to it that does not end, as when it is its host that has died, does
// not keep the launcher's word from counting.
func TestDoomedPeerWhoseConnectionStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pe, _, c := receiving(t)
		p := pe.pml
		op := post(t, c, make([]byte, 10))
		pe.doom("node1", errKilled)
		start := time.Now()
		for !op.done {
			p.engine.Unlock()
			<-time.After(time.Millisecond) // virtual time, in which the timers of the engine run
			p.engine.Lock()
		}
		checkDoomed(t, op)
		assert.InDelta(t, rails.LastWords, time.Since(start), float64(2*time.Millisecond))
	})
}

// A process that is said to have left may be one whose goodbye was lost. What it had sent before is received.
// Then it has left, and nothing of the connections to it remains.
func TestWhoHasLeftWithoutAGoodbye(t *testing.T) {
	for name, state := range map[string]rails.State{"connected": rails.Up, "connecting": rails.Connecting, "broken": rails.Down} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pe, ep, c := receiving(t)
				p := pe.pml
				p.job, pe.ways.Met = sized{size: 3}, true
				c.group = ConsecutiveGroup(0, 3)
				come, never := post(t, c, make([]byte, 10)), post(t, c, make([]byte, 10))
				anybody, err := c.irecv(make([]byte, 10), nil, AnySource, 5)
				require.NoError(t, err)
				pe.rails[0].is(state)
				closed := false
				ep.closed = func() { closed = true }
				for _, nobody := range []int{-1, 0, 3} {
					p.PeerLeft(nobody, "node1")
				}
				p.PeerLeft(1, "node1")
				pe.pass(rails.LastWords / 2)
				require.Equal(t, state != rails.Up, never.done)
				if state == rails.Up {
					eager := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted}
					require.NoError(t, pe.rails[0].Deliver(encoded(eager), make([]byte, 10)))
					require.True(t, come.done)
					require.NoError(t, come.err)
				}
				pe.pass(rails.LastWords)
				require.True(t, never.done)
				assert.ErrorIs(t, never.err, ErrPeerClosed)
				assert.NotErrorIs(t, never.err, ErrPeerFailed)
				assert.Equal(t, state != rails.Down, closed)
				assert.False(t, anybody.done, "others may send")
				assert.NoError(t, c.unacknowledged)
				p.over = true
			})
		})
	}
}

// Without a connection the launcher's word counts at once, and for who left in
// order it does not.
func TestDoomedPeerWithoutAConnection(t *testing.T) {
	pe, _, c := receiving(t)
	pe.rails[0].is(rails.Down)
	op := post(t, c, make([]byte, 10))
	pe.doom("node1", errKilled)
	checkDoomed(t, op)

	pe, _, _ = receiving(t)
	pe.fail(rails.Closed, &peerClosedError{rank: 1})
	pe.doom("node1", errKilled)
	assert.ErrorIs(t, pe.failure, ErrPeerClosed)
}
