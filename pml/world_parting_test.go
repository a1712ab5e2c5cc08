package pml

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/whowaits"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// closingOver runs a test in which a world is closed, in a phase of that, while two rails
// lead to a peer.
func closingOver(t *testing.T, phase closePhase, f func(pe *peer, eps [2]*scripted)) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		p := pe.pml
		pe.ways.Met, p.closing, p.closer = true, true, &closer{pml: p, phase: phase}
		f(pe, eps)
	})
}

// What a world that is closed still has to send may need a rail that is broken, once the
// other one falls silent.
func TestRailsAreBroughtBackWhileAWorldIsClosed(t *testing.T) {
	for name, phase := range map[string]closePhase{"sends are not acknowledged": draining, "the goodbye is not answered": parting} {
		t.Run(name, func(t *testing.T) {
			closingOver(t, phase, func(pe *peer, _ [2]*scripted) {
				if phase == draining {
					pe.sends = 1
				}
				again := &scripted{result: btl.Busy}
				pe.rails[0].module.(*connector).ep = again
				pe.rails[0].Down(syscall.ECONNRESET)
				pe.pass(4 * time.Second)
				assert.NotZero(t, again.offers, "the rail is connected again")
			})
		})
	}
}

// A rail that is no longer needed is left alone.
func TestRailsAreNotBroughtBackForNothing(t *testing.T) {
	closingOver(t, parting, func(pe *peer, _ [2]*scripted) {
		pe.goodbye.answered = true
		again := &scripted{result: btl.Busy}
		pe.rails[0].module.(*connector).ep = again
		pe.rails[0].Down(syscall.ECONNRESET)
		pe.pass(4 * time.Second)
		assert.Zero(t, again.offers)
	})
}

// A goodbye is lost on a rail that has fallen silent. Nobody sends that again, but the rail
// is given up as if it were a message.
func TestGoodbyeOverASilentRail(t *testing.T) {
	closingOver(t, parting, func(pe *peer, eps [2]*scripted) {
		pe.sayGoodbye()
		require.Equal(t, 1, kinds(eps[0], wire.Goodbye))
		pe.rails[0].module.(*connector).ep = &scripted{result: btl.Busy}
		pe.pass(2 * pe.pml.tune.railTimeout)
		assert.False(t, pe.rails[0].up(), "the rail was given up")
		assert.Equal(t, 1, kinds(eps[1], wire.Goodbye), "and the goodbye said over the other one")
	})
}

// A report says for whom a world that is closed waits.
func TestReportOfClosing(t *testing.T) {
	for phase, want := range map[closePhase]*whowaits.Closing{
		draining: {Ranks: []int{1}},
		parting:  {Ranks: []int{1}, Goodbye: true},
	} {
		closingOver(t, phase, func(pe *peer, _ [2]*scripted) {
			p := pe.pml
			report := func() *whowaits.Closing {
				p.engine.Unlock()
				defer p.engine.Lock()
				return p.Waits().Closing
			}
			pe.sends = 1
			assert.Equal(t, want, report())
			pe.sends, pe.goodbye.answered = 0, true
			assert.Nil(t, report())
			p.closer, pe.goodbye.answered = nil, false
			assert.Nil(t, report(), "it is not closed")
		})
	}
}

// Rails that are busy when a goodbye is due get it as soon as one of them takes it.
func TestGoodbyeWaitsForBusyRails(t *testing.T) {
	for i := range 2 {
		t.Run(fmt.Sprintf("rail %d takes it", i), func(t *testing.T) {
			closingOver(t, parting, func(pe *peer, eps [2]*scripted) {
				eps[0].result, eps[1].result = btl.Busy, btl.Busy
				pe.sayGoodbye()
				require.False(t, pe.goodbye.said)
				pe.rails[1-i].ask() // that one is busy
				eps[i].result = btl.Done
				pe.rails[i].Writable()
				assert.True(t, pe.goodbye.said)
				assert.Equal(t, 1, kinds(eps[i], wire.Goodbye))
			})
		})
	}
}

// One that is busy for ever is silent, and does not keep the goodbye.
func TestGoodbyeWhileARailTakesNothing(t *testing.T) {
	closingOver(t, parting, func(pe *peer, eps [2]*scripted) {
		eps[0].result, eps[1].result = btl.Busy, btl.Busy
		pe.rails[0].module.(*connector).ep = &scripted{result: btl.Busy}
		pe.sayGoodbye()
		pe.pass(2 * pe.pml.tune.railTimeout)
		assert.False(t, pe.rails[0].up() && pe.rails[1].up(), "one was given up")
	})
}

// A rail that has passed its trial takes the goodbye that another one is too busy for.
func TestGoodbyeAfterATrial(t *testing.T) {
	closingOver(t, parting, func(pe *peer, eps [2]*scripted) {
		r := pe.rails[0]
		r.module.(*connector).ep = eps[0]
		eps[1].result = btl.Busy
		pe.rails[1].ask()
		r.Down(assert.AnError)
		pe.comesBack(t)
		require.Equal(t, rails.Trial, r.way.State)
		require.False(t, pe.goodbye.said)
		for range 3 {
			require.NoError(t, r.Deliver(encoded(wire.Header{Kind: wire.Probed}), nil))
		}
		require.True(t, r.serves())
		assert.Equal(t, 1, kinds(eps[0], wire.Goodbye))
	})
}

// A goodbye is answered over the rail that it came by: others may be silent.
func TestGoodbyeIsAnsweredWhereItCameFrom(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		bye := wire.Header{Kind: wire.Goodbye}
		require.NoError(t, pe.rails[1].Deliver(encoded(bye), nil))
		assert.Zero(t, kinds(eps[0], wire.GoodbyeAck))
		assert.Equal(t, 1, kinds(eps[1], wire.GoodbyeAck))
	})
}

// The answer to a goodbye may be lost on a rail that stays silent for good. If the transport of
// another rail ends in order, that is an answer too.
func TestTransportThatEndsAnswersAGoodbye(t *testing.T) {
	closingOver(t, parting, func(pe *peer, _ [2]*scripted) {
		pe.sayGoodbye()
		require.False(t, pe.parted())
		pe.rails[1].Down(btl.ErrPeerClosed)
		assert.True(t, pe.parted())
	})
}

// A peer may have left by the time that its goodbye is due, or that ours is to be said again.
// If one of its addresses refuses, that tells so, even if others are silent.
func TestGoodbyeToWhoHasLeft(t *testing.T) {
	for name, phase := range map[string]closePhase{"sends are not acknowledged": draining, "only the goodbye is not answered": parting} {
		t.Run(name, func(t *testing.T) {
			closingOver(t, phase, func(pe *peer, _ [2]*scripted) {
				if phase == draining {
					pe.sends = 1
				}
				pe.rails[0].module.(*connector).ep = &scripted{result: btl.Busy}
				pe.rails[0].Down(errors.New("no sign of life"))
				pe.rails[1].Down(syscall.ECONNRESET)
				for range 2 * rails.Absence / (100 * time.Millisecond) {
					if pe.rails[1].way.State == rails.Connecting {
						pe.rails[1].Down(syscall.ECONNREFUSED)
					}
					pe.pass(100 * time.Millisecond)
				}
				assert.Equal(t, phase == parting, pe.ways.Stage == rails.Failed)
			})
		})
	}
}

// An address that goes on refusing tells so, too, if the other one has refused before it fell
// silent.
func TestGoodbyeToWhoHasLeftWhileAnAddressFallsSilent(t *testing.T) {
	for refuses := range 2 { // for good; the other one once
		t.Run(fmt.Sprintf("rail %d refuses", refuses), func(t *testing.T) {
			closingOver(t, parting, func(pe *peer, _ [2]*scripted) {
				for _, r := range pe.rails {
					r.module.(*connector).ep = &scripted{result: btl.Busy}
					r.Down(syscall.ECONNRESET)
				}
				once := false
				for range 2 * rails.Absence / (100 * time.Millisecond) {
					for i, r := range pe.rails {
						if r.way.State == rails.Connecting && (i == refuses || !once) {
							once = once || i != refuses
							r.Down(syscall.ECONNREFUSED)
						}
					}
					pe.pass(100 * time.Millisecond)
				}
				require.True(t, once)
				assert.Equal(t, rails.Failed, pe.ways.Stage)
			})
		})
	}
}

// A peer that has given us up, and has ended since, may say nothing at all: where the network tells of few
// closed ports. It is waited for as long as for any peer that is silent, if closing takes that long.
func TestGoodbyeToWhoIsSilent(t *testing.T) {
	closingOver(t, parting, func(pe *peer, _ [2]*scripted) {
		pe.pml.tune.peerTimeout = 2 * time.Second
		pe.pml.startBeats()
		for _, r := range pe.rails {
			r.module.(*connector).ep = &scripted{result: btl.Busy}
			r.Down(syscall.ECONNRESET)
		}
		pe.pass(time.Second)
		require.Equal(t, rails.Known, pe.ways.Stage)
		pe.pass(3 * time.Second)
		assert.Equal(t, rails.Failed, pe.ways.Stage)
	})
}

// What has arrived beyond a gap is acknowledged by no goodbye: its sender would give it up.
func TestGoodbyeWaitsForGaps(t *testing.T) {
	closingOver(t, draining, func(pe *peer, _ [2]*scripted) {
		first := pe.received.Next()
		require.True(t, pe.drained())
		require.NoError(t, pe.arrived(first+1, true, false))
		assert.False(t, pe.drained(), "the frame before is on its way")
		require.NoError(t, pe.arrived(first, true, false))
		assert.True(t, pe.drained())
	})
}

// errUnwelcome is how a peer refuses that holds this process for gone.
var errUnwelcome = &btl.ConnError{Err: fmt.Errorf("rank 0 was declared failed: %w", btl.ErrUnwelcome), Final: true}

// An address that refuses with proof tells that the peer has heard that we leave.
func TestGoodbyeToWhoRefuses(t *testing.T) {
	closingOver(t, parting, func(pe *peer, _ [2]*scripted) {
		pe.rails[0].module.(*connector).ep = &scripted{result: btl.Busy}
		pe.rails[0].Down(errors.New("no sign of life"))
		pe.rails[1].Down(errUnwelcome)
		pe.pass(2 * rails.Absence)
		assert.Equal(t, rails.Failed, pe.ways.Stage)
	})
}

// The peer may have refused before this process leaves, while the connection to another address
// is being made.
func TestGoodbyeToWhoHasRefusedBefore(t *testing.T) {
	for name, order := range map[string][2]int{"the other one broke before": {0, 1}, "the other one broke since": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			twoPaths(t, func(pe *peer, _ [2]*scripted) {
				p := pe.pml
				p.tune.closeTimeout = 10 * time.Second
				pe.rails[0].module.(*connector).ep = &scripted{result: btl.Busy}
				causes := [2]error{errors.New("no sign of life"), errUnwelcome}
				for _, i := range order {
					pe.rails[i].Down(causes[i])
				}
				pe.pass(time.Second)
				require.Equal(t, rails.Known, pe.ways.Stage)
				p.closing = true
				before := p.engine.Now()
				assert.NoError(t, p.part(context.WithoutCancel(t.Context())))
				assert.Less(t, time.Duration(p.engine.Now()-before), time.Second)
			})
		})
	}
}

// Closing may begin before, between or after all of that. It is enough that the peer has refused
// for good by the end, and that no connection is there.
func TestClosingBeginsAtAnyMoment(t *testing.T) {
	ended := 0
	for seed := range need.Seeds(t, 50, 10_000) {
		twoPaths(t, func(pe *peer, _ [2]*scripted) {
			p, random := pe.pml, rand.New(rand.NewPCG(seed, 0xC105E))
			p.tune.closeTimeout = 10 * time.Second
			last := p.engine.Now()
			for range 2 + random.IntN(6) {
				r, after := pe.rails[random.IntN(2)], time.Duration(1+random.IntN(2000))*time.Millisecond
				err := []error{errUnwelcome, syscall.ECONNRESET, errors.New("no sign of life"), nil}[random.IntN(4)]
				r.module.(*connector).ep = &scripted{result: btl.Busy}
				last = max(last, p.engine.Now()+int64(after))
				p.engine.After(after, func() {
					switch {
					case err == nil && r.way.State == rails.Connecting:
						r.comesUp()
					case err != nil && (r.up() || r.way.State == rails.Connecting):
						r.Down(err)
					}
				})
			}
			pe.pass(time.Duration(random.IntN(2500)) * time.Millisecond)
			p.closing, last = true, max(last, p.engine.Now())
			err := p.part(context.WithoutCancel(t.Context()))
			refused := slices.ContainsFunc(pe.rails, func(r *rail) bool { return r.way.State == rails.Gone })
			if !pe.up() && refused {
				ended++
				assert.NoError(t, err, "seed %d", seed)
				assert.Less(t, time.Duration(p.engine.Now()-last), time.Second, "seed %d", seed)
			}
		})
	}
	if !need.Replays() {
		assert.Positive(t, ended)
	}
}

// An address at which somebody else answers tells nothing of the peer: the connection that has
// broken is made again.
func TestGoodbyeWhileAnAddressIsSomebodyElses(t *testing.T) {
	closingOver(t, draining, func(pe *peer, _ [2]*scripted) {
		pe.rails[1].Down(&btl.ConnError{Err: errors.New("not a rank of this job"), Final: true})
		pe.pass(time.Second)
		pe.pml.closer.phase = parting
		pe.sayGoodbye()
		require.True(t, pe.goodbye.said)
		pe.rails[0].module.(*connector).ep = &scripted{result: btl.Busy}
		pe.rails[0].Down(syscall.ECONNRESET)
		assert.Equal(t, rails.Known, pe.ways.Stage, "it lives, and is to hear the goodbye over a new connection")
	})
}

// A transport that breaks does not answer a goodbye.
func TestBrokenTransportAnswersNoGoodbye(t *testing.T) {
	closingOver(t, parting, func(pe *peer, _ [2]*scripted) {
		pe.sayGoodbye()
		pe.rails[1].Down(syscall.ECONNRESET)
		assert.False(t, pe.parted())
		pe.pass(time.Millisecond)
	})
}

// A process may be stopped while it closes its world. What has come meanwhile is looked at before the time for that
// counts as over.
func TestClosingWhileTheProcessIsStopped(t *testing.T) {
	twoPaths(t, func(pe *peer, _ [2]*scripted) {
		p := pe.pml
		p.tune.closeTimeout, p.tune.railTimeout = 10*time.Second, time.Hour
		p.engine.After(time.Second, func() {
			<-time.After(40 * time.Second) // nothing happens here meanwhile
			p.engine.After(10*time.Millisecond, func() {
				assert.NoError(t, pe.rails[0].Deliver(encoded(wire.Header{Kind: wire.GoodbyeAck}), nil))
			})
		})
		p.closing = true
		assert.NoError(t, p.part(context.WithoutCancel(t.Context())))
	})
}

// What is waited for may come in the same poll in which the time for it is over. Then it has come.
func TestClosingIsDoneAsItsTimeIsOver(t *testing.T) {
	t.Run("the answer to the goodbye", func(t *testing.T) {
		twoPaths(t, func(pe *peer, _ [2]*scripted) {
			p := pe.pml
			p.tune.closeTimeout, p.tune.railTimeout, p.closing = time.Second, time.Hour, true
			p.engine.After(time.Second, func() {
				assert.NoError(t, pe.rails[0].Deliver(encoded(wire.Header{Kind: wire.GoodbyeAck}), nil))
			})
			assert.NoError(t, p.part(context.WithoutCancel(t.Context())))
		})
	})
	t.Run("the end of the last send", func(t *testing.T) {
		twoPaths(t, func(pe *peer, eps [2]*scripted) {
			p := pe.pml
			p.tune.closeTimeout, p.tune.railTimeout, p.closing = time.Second, time.Hour, true
			pe.sends = 1
			p.engine.After(time.Second, func() { pe.sends = 0 })
			assert.ErrorContains(t, p.part(context.WithoutCancel(t.Context())), "rank 1 has not answered the goodbye")
			assert.Equal(t, 1, kinds(eps[0], wire.Goodbye), "it has heard that this process leaves")
		})
	})
}
