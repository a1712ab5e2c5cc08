package tcp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/framing"
	"github.com/strandmp/strand/wireup"
)

func TestFirstSendConnects(t *testing.T) {
	a, b := newNode(t, 0, 2), newNode(t, 1, 2)
	p := a.reach(b)
	require.Equal(t, wireup.Closed, p.ep.At())
	require.Equal(t, btl.Done, p.send(frame("h", "first")))
	require.Equal(t, 1, p.ups)
	require.Equal(t, "hello of 1", p.hello)
	require.Equal(t, 1, p.writable)
	b.until("the frame", func() bool { return len(b.accepted) == 1 && len(b.accepted[0].frames) == 1 })
	q := b.accepted[0]
	require.Equal(t, "hello of 0", q.hello)
	require.Equal(t, []message{{"h", "first"}}, q.frames)
	require.Equal(t, "host0", q.ep.Error("", nil).PeerHost)
}

func TestSizesAndVectors(t *testing.T) {
	a, b := newNode(t, 0, 2), newNode(t, 1, 2)
	p := a.reach(b)
	var want []message
	var held []*btl.Frame
	sizes := []int{0, 1, 8, 2047, 2048, 4000, copyLimit - 2, copyLimit - 1, copyLimit, copyLimit + 1, 64 << 10, 1 << 20}
	for n := framing.ReadAhead - 140; n < framing.ReadAhead+2; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		payload := strings.Repeat("x", n)
		f := frame("h", payload)
		if n > 10 { // in odd pieces
			f = frame("h", payload[:1], "", payload[1:n/2], payload[n/2:n-3], payload[n-3:])
		}
		if p.send(f) == btl.Taken {
			held = append(held, f)
		}
		want = append(want, message{"h", payload})
	}
	b.until("all frames", func() bool { return len(b.accepted) == 1 && len(b.accepted[0].frames) == len(want) })
	require.True(t, len(b.accepted[0].frames) == len(want))
	for i, m := range b.accepted[0].frames {
		require.True(t, m == want[i], "frame %d of %d bytes", i, len(want[i].payload))
	}
	a.until("release", func() bool { return len(p.released) == len(held) })
	require.Equal(t, held, p.released)
}
