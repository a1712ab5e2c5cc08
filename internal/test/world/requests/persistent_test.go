package requests_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// A persistent operation sends, each time it is started, what its buffer then has.
func TestPersistent(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for _, n := range []int{0, 8, 200_000} {
			out, in := make([]byte, n), make([]byte, n)
			send, err := p.Sender.SendInit(out, p.To, 3)
			require.NoError(p, err)
			sync, err := strand.SsendInit(p.Sender, out, p.To, 4)
			require.NoError(p, err)
			recv, err := p.Receiver.RecvInit(in, p.From, 3)
			require.NoError(p, err)
			also, err := strand.RecvInit(p.Receiver, make([]byte, n), p.From, strand.AnyTag)
			require.NoError(p, err)
			var reqs []strand.Request
			for round := range 3 {
				copy(out, world.Pattern(n, round))
				// One goroutine waits for both sides: the receives have to be there before.
				reqs, err = strand.StartAll([]*strand.Persistent{recv, also}, reqs[:0])
				require.NoError(p, err)
				sends, err := strand.StartAll([]*strand.Persistent{send, sync}, nil)
				require.NoError(p, err)
				require.NoError(p, strand.WaitAll(p.Ctx, reqs, nil))
				require.NoError(p, strand.WaitAll(p.Ctx, sends, nil))
				require.Equal(p, world.Pattern(n, round), in)
			}
		}
	})
}

// A started operation is started again only after its request has ended; what could not be started
// may be tried again.
func TestPersistentStartedTwice(t *testing.T) {
	c := world.Open(t, 1)[0].Comm()
	p, err := c.RecvInit(make([]byte, 1), 0, 1)
	require.NoError(t, err)
	r, err := p.Start()
	require.NoError(t, err)
	_, err = p.Start()
	require.ErrorIs(t, err, strand.ErrStarted)
	reqs, err := strand.StartAll([]*strand.Persistent{p}, nil)
	require.ErrorIs(t, err, strand.ErrStarted)
	require.Empty(t, reqs)
	require.NoError(t, c.Send(world.Context(t), []byte{7}, 0, 1))
	_, err = r.Wait(world.Context(t))
	require.NoError(t, err)
	r, err = p.Start()
	require.NoError(t, err)
	require.True(t, r.Cancel())
	_, done, err := r.Test()
	require.NoError(t, err)
	require.True(t, done)

	wrong, err := c.SendInit(nil, 5, 1)
	require.NoError(t, err)
	for range 2 {
		_, err = wrong.Start()
		require.ErrorIs(t, err, strand.ErrRank)
	}
	nobody, err := c.SendInit(nil, strand.ProcNull, 1)
	require.NoError(t, err)
	for range 2 {
		_, err = nobody.Start()
		require.NoError(t, err)
	}
	_, err = (*strand.Comm)(nil).SendInit(nil, 0, 0)
	require.ErrorIs(t, err, strand.ErrNilComm)
	_, err = strand.SendInit(c, []string{"x"}, 0, 0)
	require.ErrorContains(t, err, "can not be sent")
}

// An operation that is none is an error to start, alone or among others.
func TestPersistentThatIsNone(t *testing.T) {
	var none *strand.Persistent
	_, err := none.Start()
	require.ErrorIs(t, err, strand.ErrNoOperation)
	_, err = (&strand.Persistent{}).Start()
	require.ErrorIs(t, err, strand.ErrNoOperation)
	_, err = strand.StartAll([]*strand.Persistent{none}, nil)
	require.ErrorIs(t, err, strand.ErrNoOperation)
}
