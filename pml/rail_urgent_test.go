package pml

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/lanes"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// expediter is a module that makes connections for urgent frames, or none.
type expediter struct {
	btl.Module
	none bool
	made []*scripted
}

func (e *expediter) Attr() btl.Attr { return btl.Attr{Name: "quick"} }

func (e *expediter) Express(p btl.Path) (btl.Path, bool) {
	p.Urgent = true
	return p, !e.none
}

func (e *expediter) Connect(btl.Peer, btl.Path, btl.Receiver) (btl.Endpoint, error) {
	ep := &scripted{result: btl.Busy}
	e.made = append(e.made, ep)
	return ep, nil
}

// hurried has a test play a peer, an ordinary context and an urgent one, over a module.
func hurried(t *testing.T, m *expediter, play func(pe *peer, first *scripted, c, urgent *Context)) {
	synctest.Test(t, func(t *testing.T) {
		pe, ep, c := receiving(t)
		p := pe.pml
		p.tune = tunables{lanes: 4, copyLimit: 64 << 10, copyPool: 1 << 20, railTimeout: 1e9, peerTimeout: 1e10, creditMax: 1 << 20}
		pe.laneSeq, pe.spread = make([]uint32, 5), lanes.Peer{Lanes: 4}
		pe.ways.Stage = rails.Known
		r := pe.rails[0]
		r.module, r.attr = m, btl.Attr{EagerLimit: 1 << 10, MaxFrame: 1 << 10}
		pe.credit.Open(1 << 12)
		u := p.contextOf(2)
		u.group, u.urgent = c.group, true
		p.expectUrgent()
		play(pe, ep, c, u)
	})
}

// says are the contexts of the frames that an endpoint has taken, but for mere acknowledgements.
func says(ep *scripted) (contexts []uint64) {
	for _, h := range ep.sent {
		if h.Kind == wire.Eager || h.Kind == wire.Request {
			contexts = append(contexts, h.Context)
		}
	}
	return contexts
}

// aHello is what a peer says that connects.
func aHello(t *testing.T) []byte {
	b, err := (&wire.Hello{Host: "there", Credit: 1 << 10}).Encode()
	require.NoError(t, err)
	return b
}

func send(t *testing.T, c *Context, size int) {
	t.Helper()
	_, err := c.isend(make([]byte, size), nil, 1, 3, Standard)
	require.NoError(t, err)
}

// Where there is one connection, what is urgent goes before all that waits for it: messages that were
// not launched, frames and pieces of long messages.
func TestUrgentMessagesOvertake(t *testing.T) {
	hurried(t, &expediter{none: true}, func(pe *peer, ep *scripted, c, urgent *Context) {
		ep.result = btl.Busy
		for range maxBacklog + 10 {
			send(t, c, 100)
		}
		send(t, c, 1<<20)
		send(t, urgent, 100)
		send(t, urgent, 100)
		require.Empty(t, ep.sent)
		ep.result = btl.Done
		pe.rails[0].Writable()
		assert.Equal(t, []uint64{2, 2, 0, 0}, says(ep)[:4])
		for _, h := range ep.sent[:2] {
			assert.EqualValues(t, 4, h.Lane, "they have a lane of their own")
		}
		assert.Equal(t, []uint32{0, 1}, []uint32{ep.sent[0].LaneSeq, ep.sent[1].LaneSeq})
	})
}

// A piece of a long message that is urgent goes before the pieces of those that are not.
func TestUrgentPiecesOvertake(t *testing.T) {
	hurried(t, &expediter{none: true}, func(pe *peer, ep *scripted, c, urgent *Context) {
		ops := make(map[*Context]*operation)
		for _, in := range []*Context{c, urgent} {
			op, err := in.isend(make([]byte, 64<<10), nil, 1, 3, Standard)
			require.NoError(t, err)
			ops[in] = op
		}
		ep.result, ep.sent, pe.rails[0].busy = btl.Busy, nil, true
		for _, in := range []*Context{c, urgent} {
			pe.clear(&wire.Header{Kind: wire.Clear, Handle: ops[in].handle(), Remote: 7, Accept: 64 << 10})
		}
		ep.result = btl.Done
		pe.rails[0].Writable()
		require.Greater(t, len(ep.sent), 70)
		for i, h := range ep.sent {
			if h.Kind != wire.Data {
				continue
			}
			if i < 32 {
				assert.EqualValues(t, 4, h.Lane, "piece %d", i)
			}
		}
	})
}

// Nothing is opened before something urgent is sent; then one connection, once.
func TestUrgentConnectionIsMadeOnFirstUse(t *testing.T) {
	m := new(expediter)
	hurried(t, m, func(pe *peer, ep *scripted, c, urgent *Context) {
		send(t, c, 100)
		require.Empty(t, m.made)
		send(t, urgent, 100)
		send(t, urgent, 100)
		require.Len(t, m.made, 1)
		assert.Equal(t, 1, m.made[0].offers, "which asks it to connect")
		assert.Equal(t, []uint64{0, 2, 2}, says(ep), "messages do not wait for it where nothing is in their way")
		m.made[0].result = btl.Done
		pe.express.rail.Up(aHello(t))
		send(t, urgent, 100)
		send(t, c, 100)
		assert.Equal(t, []uint64{2}, says(m.made[0]))
		assert.Equal(t, []uint64{0, 2, 2, 0}, says(ep))
		require.Len(t, m.made, 1)
	})
}

// A message waits for the connection where the ordinary one has much to do, but not for long.
func TestUrgentMessagesWaitForTheirConnection(t *testing.T) {
	for name, up := range map[string]bool{"it comes": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			m := new(expediter)
			hurried(t, m, func(pe *peer, ep *scripted, c, urgent *Context) {
				ep.result = btl.Taken
				send(t, c, 1<<10)
				ep.result = btl.Done
				send(t, urgent, 100)
				require.NotContains(t, says(ep), uint64(2))
				if up {
					m.made[0].result = btl.Done
					pe.express.rail.Up(aHello(t))
					assert.Equal(t, []uint64{2}, says(m.made[0]))
					return
				}
				pe.pass(rails.NextRail)
				assert.Contains(t, says(ep), uint64(2))
				send(t, urgent, 100)
				assert.Len(t, m.made, 1, "it goes on connecting")
			})
		})
	}
}

// What was under way over the connection goes over the ordinary one when it breaks, and so does
// what follows, until the pause is over; then it is made anew.
func TestUrgentConnectionBreaks(t *testing.T) {
	m := new(expediter)
	hurried(t, m, func(pe *peer, ep *scripted, _, urgent *Context) {
		send(t, urgent, 100)
		m.made[0].result = btl.Done
		own := pe.express.rail
		own.Up(aHello(t))
		send(t, urgent, 100)
		require.Equal(t, []uint64{2}, says(m.made[0]))
		own.Down(errors.New("cut"))
		assert.Equal(t, []uint64{2, 2}, says(ep), "it goes again")
		send(t, urgent, 100)
		assert.Equal(t, []uint64{2, 2, 2}, says(ep))
		require.Len(t, m.made, 1)
		pe.pass(rails.NextRail * 2)
		send(t, urgent, 100)
		require.Len(t, m.made, 2)
		m.made[1].result = btl.Done
		own.Up(aHello(t))
		send(t, urgent, 100)
		assert.Equal(t, []uint64{2}, says(m.made[1]))
	})
}

// What was under way when the connection broke goes before all that waits for the ordinary one, and
// before what goes again of that, as it would have at first.
func TestUrgentFramesThatGoAgainOvertake(t *testing.T) {
	for name, lost := range map[string]bool{"frames that wait": false, "frames that go again": true} {
		t.Run(name, func(t *testing.T) {
			m := new(expediter)
			hurried(t, m, func(pe *peer, ep *scripted, c, urgent *Context) {
				send(t, urgent, 100)
				m.made[0].result = btl.Done
				own, r := pe.express.rail, pe.rails[0]
				own.Up(aHello(t))
				r.comesUp()
				if !lost {
					ep.result = btl.Busy
				}
				for range 10 {
					send(t, c, 100)
				}
				send(t, urgent, 100)
				require.Equal(t, []uint64{2}, says(m.made[0]))
				want := []uint64{2, 0}
				if lost {
					r.Down(errors.New("cut"))
					ep, want = r.endpoint.(*scripted), []uint64{2, 2, 0} // the first of all was lost too
				}
				own.Down(errors.New("cut"))
				ep.result, ep.sent = btl.Done, nil
				if lost {
					r.Up(aHello(t))
				} else {
					r.Writable()
				}
				require.Greater(t, len(says(ep)), len(want))
				assert.Equal(t, want, says(ep)[:len(want)])
			})
		})
	}
}

// What is heard over the connection says nothing of the ordinary one: that has to give signs of life of its own, or it
// is made anew, and if that brings none the peer has failed.
func TestUrgentConnectionSpeaksForItselfAlone(t *testing.T) {
	for name, c := range map[string]struct {
		signs func(r *rail, g *gauge)
		anew  bool
	}{
		"none":                  {func(*rail, *gauge) {}, true},
		"it was heard":          {func(r *rail, _ *gauge) { r.hear() }, false},
		"it gets rid of bytes":  {func(r *rail, g *gauge) { r.busy, *g = true, *g-1 }, false},
		"a question was passed": {func(_ *rail, g *gauge) { *g-- }, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := new(expediter)
			hurried(t, m, func(pe *peer, ep *scripted, ordinary, urgent *Context) {
				send(t, urgent, 100)
				m.made[0].result = btl.Done
				own, r, g := pe.express.rail, pe.rails[0], gauge(2*rails.Missable)
				own.Up(aHello(t))
				r.comesUp()
				r.gauge = &g
				send(t, ordinary, 100)
				beat := func() {
					pe.pml.beats.count++
					own.hear()
					c.signs(r, &g)
					pe.takePulse()
				}
				for range rails.Missable {
					beat()
					require.NoError(t, pe.failure)
				}
				assert.True(t, own.up())
				assert.Equal(t, c.anew, r.endpoint != ep)
				beat()
				if c.anew {
					assert.ErrorContains(t, pe.failure, "no sign of life")
				} else {
					assert.NoError(t, pe.failure)
				}
			})
		})
	}
}

// Where the network of the connection is down another one is made over a network that serves.
func TestUrgentConnectionLeavesANetworkThatIsDown(t *testing.T) {
	m := new(expediter)
	hurried(t, m, func(pe *peer, _ *scripted, _, urgent *Context) {
		pe.rails[0].comesUp()
		send(t, urgent, 100)
		m.made[0].result = btl.Done
		pe.express.rail.Up(aHello(t))
		other, _ := secondRail(pe)
		other.module, other.path.Index = m, 1
		require.Zero(t, pe.express.rail.path.Index)
		pe.rails[0].Down(errors.New("cut"))
		send(t, urgent, 100)
		require.Zero(t, pe.express.rail.path.Index, "it is well")
		pe.express.rail.Down(errors.New("cut"))
		send(t, urgent, 100)
		own := pe.express.rail
		require.Equal(t, 1, own.path.Index)
		require.Equal(t, rails.Connecting, own.way.State)
		made := m.made[len(m.made)-1]
		made.result = btl.Done
		own.Up(aHello(t))
		send(t, urgent, 100)
		assert.Contains(t, says(made), uint64(2))
	})
}

// urgentEndpoint is one that a peer has made for urgent frames.
type urgentEndpoint struct{ scripted }

func (*urgentEndpoint) Path() btl.Path { return btl.Path{Urgent: true} }

// Where a peer makes its connection for urgent frames by another transport, that one takes the place of ours. What ours had not
// delivered goes again.
func TestUrgentConnectionOfAnotherTransport(t *testing.T) {
	m := new(expediter)
	hurried(t, m, func(pe *peer, ep *scripted, _, urgent *Context) {
		send(t, urgent, 100)
		ours, closed := m.made[0], false
		ours.result, ours.closed = btl.Done, func() { closed = true }
		pe.express.rail.Up(aHello(t))
		send(t, urgent, 100)
		require.Equal(t, []uint64{2}, says(ours))
		theirs := &urgentEndpoint{scripted{result: btl.Busy}}
		r, err := pe.welcomeUrgent(&accepted{module: new(expediter), endpoint: theirs})
		require.NoError(t, err)
		assert.Equal(t, []uint64{2, 2}, says(ep), "it goes again")
		theirs.result = btl.Done
		r.Up(aHello(t))
		send(t, urgent, 100)
		assert.Equal(t, []uint64{2}, says(&theirs.scripted))
		assert.True(t, closed)
	})
}

// Ordinary messages leave some credit to urgent ones, which need not ask then.
func TestCreditIsLeftToUrgentMessages(t *testing.T) {
	hurried(t, &expediter{none: true}, func(pe *peer, ep *scripted, c, urgent *Context) {
		pe.reserve()
		for range 1000 {
			send(t, c, 1<<10)
		}
		send(t, urgent, 8)
		kinds := make(map[uint64]wire.Kind)
		for _, h := range ep.sent {
			kinds[h.Context] = h.Kind
		}
		assert.Equal(t, wire.Request, kinds[0], "the credit is used up")
		assert.Equal(t, wire.Eager, kinds[2])
	})
}
