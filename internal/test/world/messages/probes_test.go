package messages_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// A probe describes the message that the next receive with the same source and
// tag gets, and leaves it there.
func TestProbe(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for _, want := range []struct{ src, tag int }{
			{p.From, 3}, {strand.AnySource, 3}, {p.From, strand.AnyTag}, {strand.AnySource, strand.AnyTag},
		} {
			_, found, err := p.Receiver.Iprobe(want.src, want.tag)
			require.NoError(p, err)
			require.False(p, found)
			for i, n := range []int{0, 10, 300_000} {
				data := world.Pattern(n, i)
				out := p.Isend(data, 3)
				for range 2 {
					st, err := p.Receiver.Probe(p.Ctx, want.src, want.tag)
					require.NoError(p, err)
					require.Equal(p, strand.Status{Source: p.From, Tag: 3, Count: n}, st)
					again, found, err := p.Receiver.Iprobe(want.src, want.tag)
					require.NoError(p, err)
					require.True(p, found)
					require.Equal(p, st, again)
				}
				_, found, err := p.Receiver.Iprobe(want.src, 4)
				require.NoError(p, err)
				require.False(p, found, "no such tag")
				p.Recv(data, 3)
				p.Wait(out)
			}
		}
	})
}

// A probe that waits sees a message that arrives.
func TestProbeWaits(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for i := range 20 {
			found := make(chan strand.Status, 1)
			go func() {
				st, err := p.Receiver.Probe(p.Ctx, strand.AnySource, i)
				if err == nil {
					found <- st
				}
				close(found)
			}()
			out := p.Isend(make([]byte, i), i)
			require.Equal(p, strand.Status{Source: p.From, Tag: i, Count: i}, <-found)
			p.Recv(make([]byte, i), i)
			p.Wait(out)
		}
	})
}

// What a matched probe has taken nobody else gets.
func TestMatchedProbe(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for i, n := range world.Sizes {
			first, second := world.Pattern(n, i), world.Pattern(n, i+1)
			outs := []strand.Request{p.Isend(first, 1), p.Isend(second, 1)}
			m, err := p.Receiver.Mprobe(p.Ctx, strand.AnySource, strand.AnyTag)
			require.NoError(p, err)
			require.Equal(p, strand.Status{Source: p.From, Tag: 1, Count: n}, m.Status())
			p.Recv(second, 1)
			none, found, err := p.Receiver.Improbe(strand.AnySource, 1)
			require.NoError(p, err)
			require.False(p, found)
			require.Nil(p, none)
			buf := make([]byte, n)
			var st strand.Status
			var in strand.Request
			pieces := [][]byte{buf[:n/2], nil, buf[n/2:]}
			switch i % 4 {
			case 0:
				st, err = m.Recv(p.Ctx, buf)
			case 1:
				st, err = m.RecvV(p.Ctx, pieces)
			case 2:
				in, err = m.Irecv(buf)
			case 3:
				in, err = m.IrecvV(pieces)
			}
			require.NoError(p, err)
			if i%4 >= 2 {
				st, err = in.Wait(p.Ctx)
				require.NoError(p, err)
			}
			require.Equal(p, m.Status(), st)
			world.Equal(p, first, buf, "%d bytes", n)
			_, err = m.Recv(p.Ctx, buf)
			require.ErrorIs(p, err, strand.ErrFinished, "a message is received once")
			require.NoError(p, strand.WaitAll(p.Ctx, outs, nil))
		}
		_, err := (*strand.Message)(nil).Recv(p.Ctx, nil)
		require.ErrorIs(p, err, strand.ErrNoMessage)
	})
}

// Several goroutines take messages by matched probes: each message once.
func TestMatchedProbesShare(t *testing.T) {
	const messages, takers = 200, 4
	world.OnEach(t, func(p *world.Pair) {
		got := make(chan byte, messages)
		for range takers {
			go func() {
				for range messages / takers {
					m, err := p.Receiver.Mprobe(p.Ctx, strand.AnySource, strand.AnyTag)
					if err != nil {
						return
					}
					b := make([]byte, 1)
					if _, err := m.Recv(p.Ctx, b); err != nil {
						return
					}
					got <- b[0]
				}
			}()
		}
		outs := make([]strand.Request, messages)
		for i := range outs {
			outs[i] = p.Isend([]byte{byte(i)}, i%5)
		}
		require.NoError(p, strand.WaitAll(p.Ctx, outs, nil))
		seen := make(map[byte]bool)
		for range messages {
			select {
			case b := <-got:
				require.False(p, seen[b])
				seen[b] = true
			case <-p.Ctx.Done():
				p.Fatal("messages are missing")
			}
		}
	})
}
