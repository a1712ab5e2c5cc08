package strand_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
)

// A probe describes the message that the next receive with the same source and
// tag gets, and leaves it there.
func TestProbe(t *testing.T) {
	onEach(t, func(p *pair) {
		for _, want := range []struct{ src, tag int }{
			{p.from, 3}, {strand.AnySource, 3}, {p.from, strand.AnyTag}, {strand.AnySource, strand.AnyTag},
		} {
			_, found, err := p.r.Iprobe(want.src, want.tag)
			require.NoError(p, err)
			require.False(p, found)
			for i, n := range []int{0, 10, 300_000} {
				data := pattern(n, i)
				out := p.isend(data, 3)
				for range 2 {
					st, err := p.r.Probe(p.ctx, want.src, want.tag)
					require.NoError(p, err)
					require.Equal(p, strand.Status{Source: p.from, Tag: 3, Count: n}, st)
					again, found, err := p.r.Iprobe(want.src, want.tag)
					require.NoError(p, err)
					require.True(p, found)
					require.Equal(p, st, again)
				}
				_, found, err := p.r.Iprobe(want.src, 4)
				require.NoError(p, err)
				require.False(p, found, "no such tag")
				p.recv(data, 3)
				p.wait(out)
			}
		}
	})
}

// A probe that waits sees a message that arrives.
func TestProbeWaits(t *testing.T) {
	onEach(t, func(p *pair) {
		for i := range 20 {
			found := make(chan strand.Status, 1)
			go func() {
				st, err := p.r.Probe(p.ctx, strand.AnySource, i)
				if err == nil {
					found <- st
				}
				close(found)
			}()
			out := p.isend(make([]byte, i), i)
			require.Equal(p, strand.Status{Source: p.from, Tag: i, Count: i}, <-found)
			p.recv(make([]byte, i), i)
			p.wait(out)
		}
	})
}

// What a matched probe has taken nobody else gets.
func TestMatchedProbe(t *testing.T) {
	onEach(t, func(p *pair) {
		for i, n := range sizes {
			first, second := pattern(n, i), pattern(n, i+1)
			outs := []strand.Request{p.isend(first, 1), p.isend(second, 1)}
			m, err := p.r.Mprobe(p.ctx, strand.AnySource, strand.AnyTag)
			require.NoError(p, err)
			require.Equal(p, strand.Status{Source: p.from, Tag: 1, Count: n}, m.Status())
			p.recv(second, 1)
			none, found, err := p.r.Improbe(strand.AnySource, 1)
			require.NoError(p, err)
			require.False(p, found)
			require.Nil(p, none)
			buf := make([]byte, n)
			var st strand.Status
			var in strand.Request
			pieces := [][]byte{buf[:n/2], nil, buf[n/2:]}
			switch i % 4 {
			case 0:
				st, err = m.Recv(p.ctx, buf)
			case 1:
				st, err = m.RecvV(p.ctx, pieces)
			case 2:
				in, err = m.Irecv(buf)
			case 3:
				in, err = m.IrecvV(pieces)
			}
			require.NoError(p, err)
			if i%4 >= 2 {
				st, err = in.Wait(p.ctx)
				require.NoError(p, err)
			}
			require.Equal(p, m.Status(), st)
			equal(p, first, buf, "%d bytes", n)
			_, err = m.Recv(p.ctx, buf)
			require.ErrorIs(p, err, strand.ErrFinished, "a message is received once")
			require.NoError(p, strand.WaitAll(p.ctx, outs, nil))
		}
		_, err := (*strand.Message)(nil).Recv(p.ctx, nil)
		require.ErrorIs(p, err, strand.ErrNoMessage)
	})
}

// Several goroutines take messages by matched probes: each message once.
func TestMatchedProbesShare(t *testing.T) {
	const messages, takers = 200, 4
	onEach(t, func(p *pair) {
		got := make(chan byte, messages)
		for range takers {
			go func() {
				for range messages / takers {
					m, err := p.r.Mprobe(p.ctx, strand.AnySource, strand.AnyTag)
					if err != nil {
						return
					}
					b := make([]byte, 1)
					if _, err := m.Recv(p.ctx, b); err != nil {
						return
					}
					got <- b[0]
				}
			}()
		}
		outs := make([]strand.Request, messages)
		for i := range outs {
			outs[i] = p.isend([]byte{byte(i)}, i%5)
		}
		require.NoError(p, strand.WaitAll(p.ctx, outs, nil))
		seen := make(map[byte]bool)
		for range messages {
			select {
			case b := <-got:
				require.False(p, seen[b])
				seen[b] = true
			case <-p.ctx.Done():
				p.Fatal("messages are missing")
			}
		}
	})
}
