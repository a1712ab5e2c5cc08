package pml

import (
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// callable runs a test, in virtual time, with a peer of which nothing is known to work
// and a launcher that passes calls on.
func callable(t *testing.T, f func(pe *peer, c *Context, calls *[]int)) {
	synctest.Test(t, func(t *testing.T) {
		pe, ep, c := receiving(t)
		var calls []int
		pe.pml.job = sized{size: 3}
		pe.pml.appeal = func(rank int) error { calls = append(calls, rank); return nil }
		ep.result = btl.Busy
		pe.rails[0].is(rails.Idle)
		pe.rails[0].module = &connector{ep: ep}
		f(pe, c, &calls)
		pe.pml.over = true
	})
}

// sized is a job of which only the size is known.
type sized struct {
	Job
	size int
}

func (s sized) Size() int { return s.size }

func TestWhoCanNotBeConnectedIsCalled(t *testing.T) {
	callable(t, func(pe *peer, _ *Context, calls *[]int) {
		pe.connect()
		pe.connect()
		pe.pass(rails.FirstContact / 2)
		assert.Empty(t, *calls)
		pe.pass(rails.FirstContact)
		assert.Equal(t, []int{1}, *calls)
		pe.connect()
		pe.rails[0].comesUp()
		pe.pass(2 * rails.FirstContact)
		assert.Len(t, *calls, 1, "it is connected")
	})
}

// refuse has the only rail fail as where nobody listens, or a firewall says no.
func (pe *peer) refuse() { pe.rails[0].Down(syscall.ECONNREFUSED) }

// When all has failed at first contact the peer is called, and has a while to connect.
func TestCallIsTheLastResort(t *testing.T) {
	t.Run("in vain", func(t *testing.T) {
		callable(t, func(pe *peer, _ *Context, calls *[]int) {
			pe.refuse()
			pe.pass(rails.AppealTime / 2)
			require.NoError(t, pe.failure)
			assert.Equal(t, []int{1}, *calls)
			pe.pass(rails.AppealTime)
			require.ErrorIs(t, pe.failure, syscall.ECONNREFUSED)
			assert.ErrorContains(t, pe.failure, "nor did it connect to this process")
		})
	})
	t.Run("it connects", func(t *testing.T) {
		callable(t, func(pe *peer, _ *Context, _ *[]int) {
			pe.refuse()
			pe.pass(rails.AppealTime / 2)
			pe.comesBack(t)
			pe.pass(2 * rails.AppealTime)
			assert.NoError(t, pe.failure)
			assert.True(t, pe.rails[0].up())
		})
	})
	t.Run("nobody can call", func(t *testing.T) {
		callable(t, func(pe *peer, _ *Context, _ *[]int) {
			pe.pml.appeal = nil
			pe.refuse()
			require.ErrorIs(t, pe.failure, syscall.ECONNREFUSED, "at once")
			assert.ErrorContains(t, pe.failure, "rank 1 has gone: connection refused")
			assert.ErrorContains(t, pe.failure, ": it has left in order, or has failed, unless a firewall", "nobody can tell")
			assert.NotErrorIs(t, pe.failure, errNoAppeal, "there is nobody to ask")
		})
	})
	t.Run("nobody can call who does not answer", func(t *testing.T) {
		callable(t, func(pe *peer, _ *Context, _ *[]int) {
			pe.pml.appeal = nil
			pe.rails[0].Down(syscall.ETIMEDOUT)
			require.ErrorIs(t, pe.failure, errNoAppeal, "at once")
		})
	})
	t.Run("the launcher says how it has ended", func(t *testing.T) {
		callable(t, func(pe *peer, _ *Context, _ *[]int) {
			pe.ways.Met = true
			pe.refuse()
			pe.pml.PeerFailed(1, "node", assert.AnError)
			pe.pass(time.Millisecond)
			assert.ErrorIs(t, pe.failure, assert.AnError)
		})
	})
	t.Run("the launcher says that it has left", func(t *testing.T) {
		callable(t, func(pe *peer, c *Context, calls *[]int) {
			send, err := c.isend(make([]byte, 8), nil, 1, 0, Synchronous)
			require.NoError(t, err)
			receive := post(t, c, make([]byte, 8))
			pe.refuse()
			pe.pass(time.Millisecond)
			require.Len(t, *calls, 1)
			pe.pml.PeerLeft(1, "node")
			pe.pass(time.Millisecond)
			for _, op := range []*operation{send, receive} {
				require.True(t, op.done)
				assert.ErrorIs(t, op.err, ErrPeerClosed)
				assert.NotErrorIs(t, op.err, ErrPeerFailed)
				assert.EqualError(t, op.err, "rank 1 on node has closed its world: it neither sends nor receives any more")
			}
		})
	})
	t.Run("it was there", func(t *testing.T) {
		callable(t, func(pe *peer, _ *Context, calls *[]int) {
			pe.ways.Met = true
			pe.refuse()
			pe.pass(10 * rails.Absence)
			require.NoError(t, pe.failure, "the launcher would say so")
			assert.Empty(t, *calls)
		})
	})
}

// Who is called connects, or finds out whether the connection that it has is one.
func TestWhoIsCalledConnects(t *testing.T) {
	callable(t, func(pe *peer, _ *Context, _ *[]int) {
		ep := pe.rails[0].endpoint.(*scripted)
		for _, nobody := range []int{-1, 0, 3} {
			pe.pml.Appealed(nobody)
		}
		pe.pass(time.Millisecond)
		assert.Len(t, pe.pml.peers, 1)
		assert.Zero(t, ep.offers)
		pe.pml.Appealed(1)
		pe.pass(time.Millisecond)
		assert.Positive(t, ep.offers)
		ep.result = btl.Done
		pe.rails[0].comesUp()
		ep.sent = nil
		pe.pml.Appealed(1)
		pe.pass(time.Millisecond)
		require.Len(t, ep.sent, 1)
		assert.True(t, ep.sent[0].AckNow())
		pe.failure = errors.New("it has failed")
		pe.pml.Appealed(1)
		pe.pass(time.Millisecond)
		assert.Len(t, ep.sent, 1)
	})
}

// In a group of two a receive from any source makes contact with the other one.
func TestReceiveFromAnySourceOfTwoSeeksTheOther(t *testing.T) {
	for _, size := range []int{2, 3} {
		callable(t, func(pe *peer, c *Context, _ *[]int) {
			pe.ways.Stage, c.group = rails.New, ConsecutiveGroup(0, size)
			require.NoError(t, c.prospect(match.Any))
			assert.Equal(t, size == 2, pe.wakes != 0)
			pe.ways.Stage = rails.Known // or its addresses would be asked for
			pe.pass(2 * rails.FirstContact)
		})
	}
}

// pathless is a module that knows no way to anybody.
type pathless struct{ btl.Module }

func (pathless) Attr() btl.Attr                     { return btl.Attr{Name: "tcp"} }
func (pathless) Address() []byte                    { return []byte{1} }
func (pathless) Reach(btl.Peer) ([]btl.Path, error) { return nil, assert.AnError }

// A peer to which we know no way is called only if it has a transport by which it may
// know one to us.
func TestWhoSharesNoTransportIsNotCalled(t *testing.T) {
	for component, shared := range map[string]bool{"tcp": true, "udp": false} {
		callable(t, func(pe *peer, _ *Context, calls *[]int) {
			p := pe.pml
			p.modules = []openModule{{component: "tcp", module: pathless{}}}
			pe.lead()
			pe.ways.Stage = rails.Resolving
			text, err := (&wire.Hello{Host: "far", Modules: []wire.Module{{Component: component, Address: []byte{2}}}}).Encode()
			require.NoError(t, err)
			p.resolved(pe, text, nil)
			assert.Equal(t, shared, pe.failure == nil, "it may connect yet")
			pe.pass(2 * rails.AppealTime)
			assert.Equal(t, shared, len(*calls) == 1)
			assert.ErrorContains(t, pe.failure, "can not reach rank 1 on far")
		})
	}
}

// Who leaves, and has nothing to say to the peer any more, does not call it.
func TestWhoLeavesDoesNotCall(t *testing.T) {
	callable(t, func(pe *peer, _ *Context, calls *[]int) {
		pe.connect()
		pe.pml.closing = true
		require.True(t, pe.needless())
		pe.pass(2 * rails.FirstContact)
		assert.Empty(t, *calls)
	})
}
