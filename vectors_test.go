package strand_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand"
)

// drawVector cuts b into pieces of odd lengths, empty ones among them.
func drawVector(t *rapid.T, b []byte, what string) [][]byte {
	var pieces [][]byte
	for at := 0; at < len(b); {
		n := min(rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(0, len(b))).Draw(t, what), len(b)-at)
		pieces = append(pieces, b[at:at+n:at+n])
		if at += n; len(pieces) == 40 {
			pieces = append(pieces, b[at:])
			break
		}
	}
	return pieces
}

// TestVectors sends from any pieces into any others: what matters is the whole.
func TestVectors(t *testing.T) {
	onEach(t, func(p *pair) {
		rapid.Check(p, func(t *rapid.T) {
			n := rapid.SampledFrom([]int{0, 1, 10, 1000, 4100, 70_000, 300_000}).Draw(t, "size")
			data, room := pattern(n, 1), make([]byte, n)
			from, into := drawVector(t, data, "sent"), drawVector(t, room, "received")
			posted := rapid.Bool().Draw(t, "posted")
			var in strand.Request
			var err error
			if posted {
				in, err = p.r.IrecvV(into, p.from, 1)
				require.NoError(t, err)
			}
			out, err := p.s.IsendV(from, p.to, 1)
			require.NoError(t, err)
			if !posted {
				_, err = p.r.Probe(p.ctx, p.from, 1)
				require.NoError(t, err)
				in, err = p.r.IrecvV(into, p.from, 1)
				require.NoError(t, err)
			}
			st, err := in.Wait(p.ctx)
			require.NoError(t, err)
			require.Equal(t, n, st.Count)
			_, err = out.Wait(p.ctx)
			require.NoError(t, err)
			require.True(t, bytes.Equal(data, room))
		})
	})
}

func TestBlockingVectors(t *testing.T) {
	onEach(t, func(p *pair) {
		room := make([]byte, 7)
		in, err := p.r.IrecvV([][]byte{nil, room[:4], {}, room[4:]}, p.from, 1)
		require.NoError(p, err)
		require.NoError(p, p.s.SendV(p.ctx, [][]byte{{1}, {}, {2, 3}, nil, {4, 5, 6}}, p.to, 1))
		require.Equal(p, 6, p.wait(in).Count)
		require.Equal(p, []byte{1, 2, 3, 4, 5, 6, 0}, room)

		out, err := p.s.IsendV([][]byte{{7, 8}, {9}}, p.to, 1)
		require.NoError(p, err)
		st, err := p.r.RecvV(p.ctx, [][]byte{room[:1], room[1:]}, p.from, 1)
		require.NoError(p, err)
		require.Equal(p, 3, st.Count)
		require.Equal(p, []byte{7, 8, 9}, room[:3])
		p.wait(out)
	})
}
