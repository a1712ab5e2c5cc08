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
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// met runs a test, in virtual time, with a peer that was met and that no launcher tells of.
func met(t *testing.T, timeout time.Duration, f func(pe *peer, ep *scripted, m *connector)) {
	synctest.Test(t, func(t *testing.T) {
		pe, ep, _ := receiving(t)
		p, m := pe.pml, &connector{ep: &scripted{result: btl.Busy}}
		p.tune.peerTimeout, p.tune.railTimeout = timeout, 500*time.Millisecond
		pe.rails[0].module = m
		pe.rails[0].comesUp()
		p.startBeats()
		f(pe, ep, m)
		p.closing, p.over = true, true // no beat follows
	})
}

// up has the peer's only rail be connected again.
func (pe *peer) comesBack(t *testing.T) {
	hello, err := new(wire.Hello).Encode()
	require.NoError(t, err)
	pe.rails[0].Up(hello)
}

// Resets at all addresses of a peer for less than two seconds are forgiven; a process that
// has ended is found a little later, and named first.
func TestRefusalsAreForgivenForAWhile(t *testing.T) {
	met(t, 30*time.Second, func(pe *peer, _ *scripted, _ *connector) {
		r := pe.rails[0]
		refuse := func(d time.Duration) {
			for range d / (100 * time.Millisecond) {
				r.Down(syscall.ECONNREFUSED)
				pe.pass(100 * time.Millisecond)
			}
		}
		r.Down(syscall.ECONNRESET)
		refuse(1500 * time.Millisecond)
		require.NoError(t, pe.failure)
		pe.comesBack(t)
		r.Down(syscall.ECONNRESET)
		refuse(1500 * time.Millisecond)
		require.NoError(t, pe.failure, "it was there in between")
		refuse(600 * time.Millisecond)
		require.ErrorIs(t, pe.failure, syscall.ECONNREFUSED)
		assert.ErrorContains(t, pe.failure, "rank 1 has gone: connection refused")
	})
}

// pml_peer_timeout=0 waits for ever for a peer that was met, whatever becomes of attempts to
// reach it, unless these come to an end that is proved.
func TestPatience(t *testing.T) {
	for name, err := range map[string]error{
		"no answer": syscall.ETIMEDOUT, "no descriptor": syscall.EMFILE, "no port": syscall.EADDRNOTAVAIL,
		"an end": errors.New("whoever listens there has closed the connection without a word"),
	} {
		t.Run(name, func(t *testing.T) {
			met(t, 0, func(pe *peer, _ *scripted, m *connector) {
				post(t, pe.pml.contextOf(0), nil)
				for range 100 {
					pe.rails[0].Down(err)
					pe.pass(10 * time.Second)
					require.NoError(t, pe.failure)
				}
				assert.Positive(t, m.ep.offers, "it is tried again")
				pe.rails[0].Down(&btl.ConnError{Err: errors.New("refused by the peer"), Final: true})
				require.ErrorContains(t, pe.failure, "refused by the peer")
			})
		})
	}
}

// A connection that is silent for half of the time gives way to a new one: what lies
// between may have forgotten it.
func TestSilentConnectionIsMadeAnew(t *testing.T) {
	for _, timeout := range []time.Duration{2400 * time.Millisecond, 0} {
		met(t, timeout, func(pe *peer, _ *scripted, m *connector) {
			if timeout == 0 {
				timeout = patience
			}
			post(t, pe.pml.contextOf(0), nil)
			pe.pass(timeout / 3)
			require.True(t, pe.rails[0].up())
			pe.pass(timeout / 4)
			require.False(t, pe.rails[0].up())
			require.Positive(t, m.ep.offers, "another one is tried")
			m.ep.result = btl.Done
			pe.comesBack(t)
			pe.rails[0].hear()
			pe.pass(timeout / 3)
			require.NoError(t, pe.failure)
			require.True(t, pe.rails[0].up())
		})
	}
}

// Connections that break again and again while nothing gets through end in a failure,
// though each of them has brought something.
func TestStandstillIsFailure(t *testing.T) {
	met(t, 2400*time.Millisecond, func(pe *peer, ep *scripted, m *connector) {
		m.ep = ep
		pe.underWay(pe.rails[0])
		for range 100 {
			pe.rails[0].hear()
			pe.rails[0].Down(syscall.ECONNRESET)
			pe.pass(50 * time.Millisecond)
			if pe.failure != nil {
				break
			}
			pe.comesBack(t)
		}
		require.ErrorContains(t, pe.failure, "connections have broken and nothing got through, for 2.4s (pml_peer_timeout)")
	})
}

// A receive that does not get its message ends with the reason for that, though the message would have been too long for it:
// the buffer does not have the beginning of anything.
func TestReceiveThatFailsIsNotTruncated(t *testing.T) {
	for name, c := range map[string]struct {
		matched bool
		end     func(*operation, *peer)
		is      error
	}{
		"its peer fails": {true, func(_ *operation, pe *peer) {
			pe.fail(rails.Failed, &PeerFailedError{Rank: 1, Cause: errors.New("gone")})
		}, ErrPeerFailed},
		"its peer leaves":     {true, func(_ *operation, pe *peer) { pe.fail(rails.Closed, &peerClosedError{rank: 1}) }, ErrPeerClosed},
		"the world is closed": {true, func(op *operation, _ *peer) { op.close() }, ErrClosed},
		"its peer has failed": {false, func(_ *operation, pe *peer) {
			pe.fail(rails.Failed, &PeerFailedError{Rank: 1, Cause: errors.New("gone")})
		}, ErrPeerFailed},
	} {
		t.Run(name, func(t *testing.T) {
			pe, _, context := receiving(t)
			var op *operation
			receive := func() { op = post(t, context, make([]byte, 100)) }
			if c.matched {
				receive()
			}
			require.NoError(t, pe.rails[0].Deliver(encoded(request(0, 300)), nil))
			c.end(op, pe)
			if !c.matched {
				receive()
			}
			require.True(t, op.done)
			require.ErrorIs(t, op.err, c.is)
			require.NotErrorIs(t, op.err, ErrTruncated)
			require.Zero(t, op.status.Count)
			require.Equal(t, 1, op.status.Source)
		})
	}
}
