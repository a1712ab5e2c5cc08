package strand_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
)

// A message that is too long is an error that says both lengths. The buffer has
// its beginning, the sender completes, and nothing else is lost.
func TestTruncation(t *testing.T) {
	for _, posted := range []bool{true, false} {
		onEach(t, func(p *pair) {
			for i, c := range []struct{ size, room int }{
				{1, 0}, {100, 99}, {5000, 100}, {60_000, 59_999},
				{300_000, 0}, {300_000, 10}, {300_000, 65_536}, {300_000, 65_537}, {2 << 20, 1<<20 + 1},
			} {
				data, room := pattern(c.size, i), make([]byte, c.room+8)
				var in, out strand.Request
				if posted {
					in = p.irecv(room[:c.room], p.from, 1)
				}
				out = p.isend(data, 1)
				next := p.isend([]byte("next"), 1)
				if !posted {
					p.settle()
					in = p.irecv(room[:c.room], p.from, 1)
				}
				st, err := in.Wait(p.ctx)
				var e *strand.TruncateError
				require.ErrorAs(p, err, &e)
				require.ErrorIs(p, err, strand.ErrTruncated)
				assert.Equal(p, strand.TruncateError{Source: p.from, Tag: 1, Message: int64(c.size), Buffer: int64(c.room)}, *e)
				assert.Equal(p, strand.Status{Source: p.from, Tag: 1, Count: c.room}, st)
				equal(p, append(data[:c.room:c.room], make([]byte, 8)...), room, "%d of %d bytes", c.room, c.size)
				p.wait(out)
				p.recv([]byte("next"), 1)
				p.wait(next)
			}
			assert.EqualValues(p, 9, p.r.World().Stats().Truncated)
		})
	}
}

func TestTruncationInAVector(t *testing.T) {
	onEach(t, func(p *pair) {
		for _, n := range []int{20, 400_000} {
			data := pattern(n, 1)
			room := make([]byte, n-7)
			pieces := [][]byte{room[:3], nil, room[3:10], room[10:]}
			in, err := p.r.IrecvV(pieces, p.from, 2)
			require.NoError(p, err)
			out := p.isend(data, 2)
			_, err = in.Wait(p.ctx)
			require.EqualError(p, err, (&strand.TruncateError{Source: p.from, Tag: 2, Message: int64(n), Buffer: int64(n - 7)}).Error())
			equal(p, data[:n-7], room, "%d bytes", n)
			p.wait(out)
		}
	})
}

// A receive of a message that a matched probe has taken truncates as well.
func TestTruncationOfAMatchedMessage(t *testing.T) {
	onEach(t, func(p *pair) {
		for _, n := range []int{50, 400_000} {
			data := pattern(n, 1)
			out := p.isend(data, 2)
			m, err := p.r.Mprobe(p.ctx, p.from, 2)
			require.NoError(p, err)
			require.Equal(p, n, m.Status().Count)
			buf := make([]byte, 40)
			st, err := m.Recv(p.ctx, buf)
			require.ErrorIs(p, err, strand.ErrTruncated)
			require.Equal(p, 40, st.Count)
			equal(p, data[:40], buf, "%d bytes", n)
			p.wait(out)
		}
	})
}
