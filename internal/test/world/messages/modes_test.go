package messages_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// TestSizes sends every size both ways of meeting: to a posted receive, and
// unexpected.
func TestSizes(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for i, n := range world.Sizes {
			data, buf := world.Pattern(n, i), make([]byte, n)
			in := p.Irecv(buf, p.From, i)
			out := p.Isend(data, i)
			st := p.Wait(in)
			require.Equal(p, strand.Status{Source: p.From, Tag: i, Count: n}, st)
			p.Wait(out)
			world.Equal(p, data, buf, "expected, %d bytes", n)

			out = p.Isend(data, i)
			p.Settle()
			p.Recv(data, i)
			p.Wait(out)
		}
	})
}

// A synchronous send completes when its message has matched, not before.
func TestSynchronousSend(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for i, n := range []int{0, 1, 500, 5000, 100_000, 500_000} {
			data := world.Pattern(n, i)
			out, err := p.Sender.Issend(data, p.To, 1)
			require.NoError(p, err)
			p.Settle()
			p.Pending(out, "no receive has matched it")
			p.Recv(data, 1)
			p.Wait(out)

			in := p.Irecv(make([]byte, n), p.From, 1)
			require.NoError(p, p.Sender.Ssend(p.Ctx, data, p.To, 1))
			p.Wait(in)
		}
	})
}

// A buffered send is complete from the start, whatever the receiver does, and
// its buffer may be reused at once.
func TestBufferedSend(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for i, n := range []int{0, 1, 5000, 100_000, 2 << 20} {
			data := world.Pattern(n, i)
			sent := append([]byte(nil), data...)
			if i%2 == 0 {
				require.NoError(p, p.Sender.Bsend(p.Ctx, sent, p.To, i))
			} else {
				r, err := p.Sender.Ibsend(sent, p.To, i)
				require.NoError(p, err)
				_, done, err := r.Test()
				require.NoError(p, err)
				require.True(p, done)
			}
			clear(sent)
			p.Settle()
			p.Recv(data, i)
		}
	})
}

func TestBufferedSendHasALimit(t *testing.T) {
	for _, n := range []int{1, 2} {
		w := world.Open(t, n, strand.WithParam("pml_buffered_max", "20000"))
		c, to := w[0].Comm(), n-1
		peer := w[to].Comm()
		ctx := world.Context(t)
		require.NoError(t, c.Bsend(ctx, make([]byte, 6000), to, 1))
		err := c.Bsend(ctx, make([]byte, 18_000), to, 1)
		require.ErrorIs(t, err, strand.ErrBuffer)
		assert.ErrorContains(t, err, "18000 bytes, which take 25536, but of pml_buffered_max = 20000 only")
		_, err = peer.Recv(ctx, make([]byte, 6000), 0, 1)
		require.NoError(t, err)
		// Its room comes back with the acknowledgement that the answer brings.
		require.NoError(t, peer.Bsend(ctx, nil, 0, 2))
		_, err = c.Recv(ctx, nil, to, 2)
		require.NoError(t, err)
		require.NoError(t, c.Bsend(ctx, make([]byte, 16_000), to, 1))
		_, err = peer.Recv(ctx, make([]byte, 16_000), 0, 1)
		require.NoError(t, err)
	}
}

// Empty buffered sends are bounded too, and with them what the receiver keeps for those
// that it was not sent with its credit. When they are received there is room again.
func TestEmptyBufferedSendsAreBounded(t *testing.T) {
	const room, most = 64 << 10, 10_000
	world.OnTransports(t, func(p *world.Pair) {
		sent := 0
		for err := error(nil); err == nil; sent++ {
			require.Less(p, sent, most, "sends that nothing holds back")
			err = p.Sender.Bsend(p.Ctx, nil, p.To, sent)
			if err != nil {
				require.ErrorIs(p, err, strand.ErrBuffer)
				break
			}
		}
		require.GreaterOrEqual(p, sent, room/strand.BsendOverhead)
		for i := range sent {
			p.Recv(nil, i)
		}
		p.Settle()
		require.NoError(p, p.Sender.Bsend(p.Ctx, nil, p.To, 1))
		p.Recv(nil, 1)
	}, strand.WithParam("pml_buffered_max", "64K"))
}

// There is room for as many messages as BsendOverhead promises, whatever their length
// and whether or not anybody receives.
func TestBufferedSendsFitAsPromised(t *testing.T) {
	const n = 30
	for _, size := range []int{0, 1, 64, 65, 129, 1025, 97_000, 1<<20 + 1} {
		room := n * (size + size/2 + strand.BsendOverhead)
		w := world.Open(t, 1, strand.WithParam("pml_buffered_max", fmt.Sprint(room)))
		c, ctx := w[0].Comm(), world.Context(t)
		for range n {
			require.NoError(t, c.Bsend(ctx, make([]byte, size), 0, 1), "%d bytes", size)
		}
		for range n {
			_, err := c.Recv(ctx, make([]byte, size), 0, 1)
			require.NoError(t, err)
		}
	}
}

func TestReadySend(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for i, n := range []int{0, 100, 300_000} {
			data, buf := world.Pattern(n, i), make([]byte, n)
			in := p.Irecv(buf, p.From, strand.AnyTag)
			out, err := p.Sender.Irsend(data, p.To, i)
			require.NoError(p, err)
			require.Equal(p, n, p.Wait(in).Count)
			p.Wait(out)
			world.Equal(p, data, buf, "%d bytes", n)
		}
		in := p.Irecv(nil, p.From, 9)
		require.NoError(p, p.Sender.Rsend(p.Ctx, nil, p.To, 9))
		p.Wait(in)
	})
}

// In Sendrecv with each other nobody waits for the other to receive first.
func TestSendrecv(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for i, n := range world.Sizes {
			there, back := world.Pattern(n, i), world.Pattern(n+1, i+1)
			at, here := make([]byte, n), make([]byte, n+1)
			done := make(chan error, 1)
			if p.Sender == p.Receiver {
				st, err := p.Sender.Sendrecv(p.Ctx, there, 0, 5, at, strand.AnySource, strand.AnyTag)
				require.NoError(p, err)
				require.Equal(p, strand.Status{Source: 0, Tag: 5, Count: n}, st)
				world.Equal(p, there, at, "%d bytes", n)
				continue
			}
			go func() {
				_, err := p.Receiver.Sendrecv(p.Ctx, back, p.From, 6, at, p.From, 5)
				done <- err
			}()
			st, err := p.Sender.Sendrecv(p.Ctx, there, p.To, 5, here, p.To, 6)
			require.NoError(p, err)
			require.NoError(p, <-done)
			require.Equal(p, strand.Status{Source: p.To, Tag: 6, Count: n + 1}, st)
			world.Equal(p, there, at, "%d bytes there", n)
			world.Equal(p, back, here, "%d bytes back", n+1)
		}
	})
}

func TestWildcards(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for _, want := range []struct{ src, tag int }{
			{p.From, 7}, {strand.AnySource, 7}, {p.From, strand.AnyTag}, {strand.AnySource, strand.AnyTag},
		} {
			buf := make([]byte, 10)
			in := p.Irecv(buf, want.src, want.tag)
			out := p.Isend([]byte("early"), 7)
			require.Equal(p, strand.Status{Source: p.From, Tag: 7, Count: 5}, p.Wait(in))
			p.Wait(out)
			out = p.Isend([]byte("late"), 7)
			p.Settle()
			st, err := p.Receiver.Recv(p.Ctx, buf, want.src, want.tag)
			require.NoError(p, err)
			require.Equal(p, strand.Status{Source: p.From, Tag: 7, Count: 4}, st)
			p.Wait(out)
		}
	})
}

// Messages do not overtake each other, whatever their sizes: what a receive for
// any tag takes comes in the order of sending.
func TestOrder(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		if p.Sender.World().Params().String("pml_ordering") == "relaxed" {
			return // the order of arrival is the order then
		}
		var outs []strand.Request
		for round := range 3 {
			for i, n := range world.Sizes {
				outs = append(outs, p.Isend(world.Pattern(n, i), i%(round+2)))
			}
		}
		buf := make([]byte, 4<<20)
		for round := range 3 {
			for i, n := range world.Sizes {
				st, err := p.Receiver.Recv(p.Ctx, buf, strand.AnySource, strand.AnyTag)
				require.NoError(p, err)
				require.Equal(p, strand.Status{Source: p.From, Tag: i % (round + 2), Count: n}, st)
				world.Equal(p, world.Pattern(n, i), buf[:n], "%d bytes", n)
			}
		}
		require.NoError(p, strand.WaitAll(p.Ctx, outs, nil))
	})
}

// Operations with nobody do nothing and complete at once.
func TestProcNull(t *testing.T) {
	w := world.Open(t, 1)
	c, ctx := w[0].Comm(), world.Context(t)
	nobody := strand.Status{Source: strand.ProcNull, Tag: strand.AnyTag}
	buf := []byte("untouched")

	require.NoError(t, c.Send(ctx, buf, strand.ProcNull, 1))
	require.NoError(t, c.Ssend(ctx, buf, strand.ProcNull, 1))
	require.NoError(t, c.Bsend(ctx, make([]byte, 100<<20), strand.ProcNull, 1))
	r, err := c.Issend(buf, strand.ProcNull, 1)
	require.NoError(t, err)
	_, err = r.Wait(ctx)
	require.NoError(t, err)

	st, err := c.Recv(ctx, buf, strand.ProcNull, 1)
	require.NoError(t, err)
	assert.Equal(t, nobody, st)
	r, err = c.Irecv(buf, strand.ProcNull, 1)
	require.NoError(t, err)
	st, err = r.Wait(ctx)
	require.NoError(t, err)
	assert.Equal(t, nobody, st)
	_, err = r.Wait(ctx)
	assert.ErrorIs(t, err, strand.ErrFinished)

	st, err = c.Sendrecv(ctx, buf, strand.ProcNull, 1, buf, strand.ProcNull, 1)
	require.NoError(t, err)
	assert.Equal(t, nobody, st)
	st, err = c.Probe(ctx, strand.ProcNull, 1)
	require.NoError(t, err)
	assert.Equal(t, nobody, st)
	st, found, err := c.Iprobe(strand.ProcNull, 1)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, nobody, st)

	m, err := c.Mprobe(ctx, strand.ProcNull, 1)
	require.NoError(t, err)
	assert.Equal(t, nobody, m.Status())
	st, err = m.Recv(ctx, buf)
	require.NoError(t, err)
	assert.Equal(t, nobody, st)
	_, err = m.Recv(ctx, buf)
	assert.ErrorIs(t, err, strand.ErrFinished)
	m, found, err = c.Improbe(strand.ProcNull, 1)
	require.NoError(t, err)
	assert.True(t, found)
	r, err = m.Irecv(buf)
	require.NoError(t, err)
	st, done, err := r.Test()
	require.NoError(t, err)
	assert.True(t, done)
	assert.Equal(t, nobody, st)
	assert.Equal(t, "untouched", string(buf))
}

// A Sendrecv whose send is refused receives nothing: the message is there for the next receive.
func TestSendrecvThatIsRefused(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		out := p.Isend([]byte("kept"), 5)
		_, err := p.Receiver.Probe(p.Ctx, p.From, 5)
		require.NoError(p, err)
		buf := make([]byte, 10)
		for _, bad := range []struct {
			dst, tag int
			is       error
		}{{p.Receiver.Size(), 5, strand.ErrRank}, {-7, 5, strand.ErrRank}, {p.From, -1, strand.ErrTag}} {
			_, err := p.Receiver.Sendrecv(p.Ctx, nil, bad.dst, bad.tag, buf, p.From, 5)
			require.ErrorIs(p, err, bad.is)
			_, err = p.Receiver.SendrecvReplace(p.Ctx, buf, bad.dst, bad.tag, p.From, 5)
			require.ErrorIs(p, err, bad.is)
		}
		require.Equal(p, make([]byte, 10), buf)
		st, err := p.Receiver.Recv(p.Ctx, buf, p.From, 5)
		require.NoError(p, err)
		require.Equal(p, strand.Status{Source: p.From, Tag: 5, Count: 4}, st)
		p.Wait(out)
	})
}
