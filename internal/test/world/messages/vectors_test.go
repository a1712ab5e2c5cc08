package messages_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
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
	world.OnEach(t, func(p *world.Pair) {
		rapid.Check(p, func(t *rapid.T) {
			n := rapid.SampledFrom([]int{0, 1, 10, 1000, 4100, 70_000, 300_000}).Draw(t, "size")
			data, room := world.Pattern(n, 1), make([]byte, n)
			from, into := drawVector(t, data, "sent"), drawVector(t, room, "received")
			posted := rapid.Bool().Draw(t, "posted")
			var in strand.Request
			var err error
			if posted {
				in, err = p.Receiver.IrecvV(into, p.From, 1)
				require.NoError(t, err)
			}
			out, err := p.Sender.IsendV(from, p.To, 1)
			require.NoError(t, err)
			if !posted {
				_, err = p.Receiver.Probe(p.Ctx, p.From, 1)
				require.NoError(t, err)
				in, err = p.Receiver.IrecvV(into, p.From, 1)
				require.NoError(t, err)
			}
			st, err := in.Wait(p.Ctx)
			require.NoError(t, err)
			require.Equal(t, n, st.Count)
			_, err = out.Wait(p.Ctx)
			require.NoError(t, err)
			require.True(t, bytes.Equal(data, room))
		})
	})
}

func TestBlockingVectors(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		room := make([]byte, 7)
		in, err := p.Receiver.IrecvV([][]byte{nil, room[:4], {}, room[4:]}, p.From, 1)
		require.NoError(p, err)
		require.NoError(p, p.Sender.SendV(p.Ctx, [][]byte{{1}, {}, {2, 3}, nil, {4, 5, 6}}, p.To, 1))
		require.Equal(p, 6, p.Wait(in).Count)
		require.Equal(p, []byte{1, 2, 3, 4, 5, 6, 0}, room)

		out, err := p.Sender.IsendV([][]byte{{7, 8}, {9}}, p.To, 1)
		require.NoError(p, err)
		st, err := p.Receiver.RecvV(p.Ctx, [][]byte{room[:1], room[1:]}, p.From, 1)
		require.NoError(p, err)
		require.Equal(p, 3, st.Count)
		require.Equal(p, []byte{7, 8, 9}, room[:3])
		p.Wait(out)
	})
}
