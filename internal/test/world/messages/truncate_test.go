package messages_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// A message that is too long is an error that says both lengths. The buffer has
// its beginning, the sender completes, and nothing else is lost.
func TestTruncation(t *testing.T) {
	for _, posted := range []bool{true, false} {
		world.OnEach(t, func(p *world.Pair) {
			for i, c := range []struct{ size, room int }{
				{1, 0}, {100, 99}, {5000, 100}, {60_000, 59_999},
				{300_000, 0}, {300_000, 10}, {300_000, 65_536}, {300_000, 65_537}, {2 << 20, 1<<20 + 1},
			} {
				data, room := world.Pattern(c.size, i), make([]byte, c.room+8)
				var in, out strand.Request
				if posted {
					in = p.Irecv(room[:c.room], p.From, 1)
				}
				out = p.Isend(data, 1)
				next := p.Isend([]byte("next"), 1)
				if !posted {
					p.Settle()
					in = p.Irecv(room[:c.room], p.From, 1)
				}
				st, err := in.Wait(p.Ctx)
				var e *strand.TruncateError
				require.ErrorAs(p, err, &e)
				require.ErrorIs(p, err, strand.ErrTruncated)
				assert.Equal(p, strand.TruncateError{Source: p.From, Tag: 1, Message: int64(c.size), Buffer: int64(c.room)}, *e)
				assert.Equal(p, strand.Status{Source: p.From, Tag: 1, Count: c.room}, st)
				world.Equal(p, append(data[:c.room:c.room], make([]byte, 8)...), room, "%d of %d bytes", c.room, c.size)
				p.Wait(out)
				p.Recv([]byte("next"), 1)
				p.Wait(next)
			}
			assert.EqualValues(p, 9, p.Receiver.World().Stats().Truncated)
		})
	}
}

func TestTruncationInAVector(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for _, n := range []int{20, 400_000} {
			data := world.Pattern(n, 1)
			room := make([]byte, n-7)
			pieces := [][]byte{room[:3], nil, room[3:10], room[10:]}
			in, err := p.Receiver.IrecvV(pieces, p.From, 2)
			require.NoError(p, err)
			out := p.Isend(data, 2)
			_, err = in.Wait(p.Ctx)
			require.EqualError(p, err, (&strand.TruncateError{Source: p.From, Tag: 2, Message: int64(n), Buffer: int64(n - 7)}).Error())
			world.Equal(p, data[:n-7], room, "%d bytes", n)
			p.Wait(out)
		}
	})
}

// A receive of a message that a matched probe has taken truncates as well.
func TestTruncationOfAMatchedMessage(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for _, n := range []int{50, 400_000} {
			data := world.Pattern(n, 1)
			out := p.Isend(data, 2)
			m, err := p.Receiver.Mprobe(p.Ctx, p.From, 2)
			require.NoError(p, err)
			require.Equal(p, n, m.Status().Count)
			buf := make([]byte, 40)
			st, err := m.Recv(p.Ctx, buf)
			require.ErrorIs(p, err, strand.ErrTruncated)
			require.Equal(p, 40, st.Count)
			world.Equal(p, data[:40], buf, "%d bytes", n)
			p.Wait(out)
		}
	})
}
