package pml

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/wire"
)

// prompted acknowledges what has been sent when it is polled, as a peer does that keeps pace.
type prompted struct {
	pe    *peer
	polls int
}

func (s *prompted) Poll() bool {
	s.polls++
	return s.pe.acknowledged(&wire.Header{Ack: s.pe.sent.Next(), Credit: 1 << 16}) == nil
}

// Who sends and never waits hears of acknowledgements: what it keeps for them is bounded by that.
func TestWhoSendsOnLooksForAcknowledgements(t *testing.T) {
	for size, after := range map[int]int{8: lookAfterShort, 16 << 10: lookAfterLong} {
		pe, _, c := promptPeer(t, 20*1000)
		p, polled := pe.pml, &prompted{pe: pe}
		pe.rails[0].setEndpoint(new(returning))
		pe.poller, p.bounds.frames = polled, 10*lookAfterShort
		c.channelTo(1)
		p.engine.Unlock()
		for range 10 * after {
			require.NoError(t, c.Send(t.Context(), make([]byte, size), nil, 1, 5, Standard))
		}
		p.engine.Lock()
		require.LessOrEqual(t, pe.sent.Outstanding(), after, "%d bytes", size)
		require.Equal(t, 10, polled.polls, "%d bytes", size)
	}
}

// Of a peer that acknowledges nothing, looks are as rare.
func TestLooksAreRareWhereNothingIsAcknowledged(t *testing.T) {
	pe, _, c := promptPeer(t, 20*1000)
	pe.rails[0].setEndpoint(new(returning))
	looks := 0
	pe.poller = pollFunc(func() bool { looks++; return false })
	c.channelTo(1)
	for range 10*lookAfterShort - 1 {
		require.True(t, c.sendShort(make([]byte, 8), 1, 5))
	}
	require.Equal(t, 9, looks)
}

// Where another goroutine waits that one looks, and the lock is not given up in the midst of a send.
func TestWhoSendsOnLeavesLooksToWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pe, _, c := promptPeer(t, 20*1000)
		p := pe.pml
		pe.rails[0].setEndpoint(new(returning))
		c.channelTo(1)
		p.engine.Unlock()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, err := c.Recv(ctx, make([]byte, 8), nil, 1, 9)
			assert.ErrorIs(t, err, context.Canceled)
		}()
		synctest.Wait()
		p.engine.Lock()
		require.True(t, p.engine.Accompanied())
		looks := 0
		pe.poller = pollFunc(func() bool { looks++; return false })
		for range 40 * lookAfterShort { // who polls so often gets the role
			require.True(t, c.sendShort(make([]byte, 8), 1, 5))
		}
		require.Zero(t, looks)
		require.True(t, p.engine.Accompanied())
		p.engine.Unlock()
		cancel()
		<-ended
		p.engine.Lock()
	})
}

// Who only sends, and has too much under way, gets room by what its peer has acknowledged meanwhile: for buffered sends, and for others.
func TestWhoOnlySendsGetsRoom(t *testing.T) {
	for _, mode := range []Mode{Buffered, Standard} {
		pe, _, c := promptPeer(t, 20*1000)
		pe.pml.tune.copyLimit = 0
		if mode == Buffered {
			pe.pml.tune.bufferedMax = 4 * bufferedCharge(1<<10)
		} else {
			pe.pml.bounds.sends = 4
		}
		pe.rails[0].setEndpoint(new(returning))
		polled := &prompted{pe: pe}
		pe.poller = polled
		for range 40 {
			_, err := c.isend(make([]byte, 1<<10), nil, 1, 5, mode)
			require.NoError(t, err)
		}
		require.LessOrEqual(t, polled.polls, 20)
		pe.poller = pollFunc(func() bool { return false })
		var err error
		for range 5 {
			if _, err = c.isend(make([]byte, 1<<10), nil, 1, 5, mode); err != nil {
				break
			}
		}
		require.ErrorIs(t, err, map[Mode]error{Buffered: ErrBuffer, Standard: ErrSends}[mode], "of one that does not acknowledge")
	}
}

type pollFunc func() bool

func (f pollFunc) Poll() bool { return f() }

var _ btl.Poller = pollFunc(nil)
