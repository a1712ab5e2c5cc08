package strand_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
)

// TestSizes sends every size both ways of meeting: to a posted receive, and
// unexpected.
func TestSizes(t *testing.T) {
	onEach(t, func(p *pair) {
		for i, n := range sizes {
			data, buf := pattern(n, i), make([]byte, n)
			in := p.irecv(buf, p.from, i)
			out := p.isend(data, i)
			st := p.wait(in)
			require.Equal(p, strand.Status{Source: p.from, Tag: i, Count: n}, st)
			p.wait(out)
			equal(p, data, buf, "expected, %d bytes", n)

			out = p.isend(data, i)
			p.settle()
			p.recv(data, i)
			p.wait(out)
		}
	})
}

// A synchronous send completes when its message has matched, not before.
func TestSynchronousSend(t *testing.T) {
	onEach(t, func(p *pair) {
		for i, n := range []int{0, 1, 500, 5000, 100_000, 500_000} {
			data := pattern(n, i)
			out, err := p.s.Issend(data, p.to, 1)
			require.NoError(p, err)
			p.settle()
			p.pending(out, "no receive has matched it")
			p.recv(data, 1)
			p.wait(out)

			in := p.irecv(make([]byte, n), p.from, 1)
			require.NoError(p, p.s.Ssend(p.ctx, data, p.to, 1))
			p.wait(in)
		}
	})
}

// A buffered send is complete from the start, whatever the receiver does, and
// its buffer may be reused at once.
func TestBufferedSend(t *testing.T) {
	onEach(t, func(p *pair) {
		for i, n := range []int{0, 1, 5000, 100_000, 2 << 20} {
			data := pattern(n, i)
			sent := append([]byte(nil), data...)
			if i%2 == 0 {
				require.NoError(p, p.s.Bsend(p.ctx, sent, p.to, i))
			} else {
				r, err := p.s.Ibsend(sent, p.to, i)
				require.NoError(p, err)
				_, done, err := r.Test()
				require.NoError(p, err)
				require.True(p, done)
			}
			clear(sent)
			p.settle()
			p.recv(data, i)
		}
	})
}

func TestBufferedSendHasALimit(t *testing.T) {
	for _, n := range []int{1, 2} {
		w := openWorlds(t, n, strand.WithParam("pml_buffered_max", "20000"))
		c, to := w[0].Comm(), n-1
		peer := w[to].Comm()
		ctx := testContext(t)
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
	onTransports(t, func(p *pair) {
		sent := 0
		for err := error(nil); err == nil; sent++ {
			require.Less(p, sent, most, "sends that nothing holds back")
			err = p.s.Bsend(p.ctx, nil, p.to, sent)
			if err != nil {
				require.ErrorIs(p, err, strand.ErrBuffer)
				break
			}
		}
		require.GreaterOrEqual(p, sent, room/strand.BsendOverhead)
		for i := range sent {
			p.recv(nil, i)
		}
		p.settle()
		require.NoError(p, p.s.Bsend(p.ctx, nil, p.to, 1))
		p.recv(nil, 1)
	}, strand.WithParam("pml_buffered_max", "64K"))
}

// There is room for as many messages as BsendOverhead promises, whatever their length
// and whether or not anybody receives.
func TestBufferedSendsFitAsPromised(t *testing.T) {
	const n = 30
	for _, size := range []int{0, 1, 64, 65, 129, 1025, 97_000, 1<<20 + 1} {
		room := n * (size + size/2 + strand.BsendOverhead)
		w := openWorlds(t, 1, strand.WithParam("pml_buffered_max", fmt.Sprint(room)))
		c, ctx := w[0].Comm(), testContext(t)
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
	onEach(t, func(p *pair) {
		for i, n := range []int{0, 100, 300_000} {
			data, buf := pattern(n, i), make([]byte, n)
			in := p.irecv(buf, p.from, strand.AnyTag)
			out, err := p.s.Irsend(data, p.to, i)
			require.NoError(p, err)
			require.Equal(p, n, p.wait(in).Count)
			p.wait(out)
			equal(p, data, buf, "%d bytes", n)
		}
		in := p.irecv(nil, p.from, 9)
		require.NoError(p, p.s.Rsend(p.ctx, nil, p.to, 9))
		p.wait(in)
	})
}

// In Sendrecv with each other nobody waits for the other to receive first.
func TestSendrecv(t *testing.T) {
	onEach(t, func(p *pair) {
		for i, n := range sizes {
			there, back := pattern(n, i), pattern(n+1, i+1)
			at, here := make([]byte, n), make([]byte, n+1)
			done := make(chan error, 1)
			if p.s == p.r {
				st, err := p.s.Sendrecv(p.ctx, there, 0, 5, at, strand.AnySource, strand.AnyTag)
				require.NoError(p, err)
				require.Equal(p, strand.Status{Source: 0, Tag: 5, Count: n}, st)
				equal(p, there, at, "%d bytes", n)
				continue
			}
			go func() {
				_, err := p.r.Sendrecv(p.ctx, back, p.from, 6, at, p.from, 5)
				done <- err
			}()
			st, err := p.s.Sendrecv(p.ctx, there, p.to, 5, here, p.to, 6)
			require.NoError(p, err)
			require.NoError(p, <-done)
			require.Equal(p, strand.Status{Source: p.to, Tag: 6, Count: n + 1}, st)
			equal(p, there, at, "%d bytes there", n)
			equal(p, back, here, "%d bytes back", n+1)
		}
	})
}

func TestWildcards(t *testing.T) {
	onEach(t, func(p *pair) {
		for _, want := range []struct{ src, tag int }{
			{p.from, 7}, {strand.AnySource, 7}, {p.from, strand.AnyTag}, {strand.AnySource, strand.AnyTag},
		} {
			buf := make([]byte, 10)
			in := p.irecv(buf, want.src, want.tag)
			out := p.isend([]byte("early"), 7)
			require.Equal(p, strand.Status{Source: p.from, Tag: 7, Count: 5}, p.wait(in))
			p.wait(out)
			out = p.isend([]byte("late"), 7)
			p.settle()
			st, err := p.r.Recv(p.ctx, buf, want.src, want.tag)
			require.NoError(p, err)
			require.Equal(p, strand.Status{Source: p.from, Tag: 7, Count: 4}, st)
			p.wait(out)
		}
	})
}

// Messages do not overtake each other, whatever their sizes: what a receive for
// any tag takes comes in the order of sending.
func TestOrder(t *testing.T) {
	onEach(t, func(p *pair) {
		if p.s.World().Params().String("pml_ordering") == "relaxed" {
			return // the order of arrival is the order then
		}
		var outs []strand.Request
		for round := range 3 {
			for i, n := range sizes {
				outs = append(outs, p.isend(pattern(n, i), i%(round+2)))
			}
		}
		buf := make([]byte, 4<<20)
		for round := range 3 {
			for i, n := range sizes {
				st, err := p.r.Recv(p.ctx, buf, strand.AnySource, strand.AnyTag)
				require.NoError(p, err)
				require.Equal(p, strand.Status{Source: p.from, Tag: i % (round + 2), Count: n}, st)
				equal(p, pattern(n, i), buf[:n], "%d bytes", n)
			}
		}
		require.NoError(p, strand.WaitAll(p.ctx, outs, nil))
	})
}

// Operations with nobody do nothing and complete at once.
func TestProcNull(t *testing.T) {
	w := openWorlds(t, 1)
	c, ctx := w[0].Comm(), testContext(t)
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
