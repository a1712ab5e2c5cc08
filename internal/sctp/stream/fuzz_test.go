package stream

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// Whatever arrives: no panic, memory within bounds, and on each stream the pieces of one message at a time.
func FuzzIncoming(f *testing.F) {
	f.Add(false, []byte{0, 3, 0, 0, 0, 1, 3, 1, 0, 0})
	f.Add(true, []byte{0, 2, 0, 0, 0, 1, 1, 0, 1, 0, 2, 0, 1, 1, 1})
	f.Add(false, []byte{4, 6, 0, 0, 0, 1, 4, 0, 0, 0, 2, 5, 0, 0, 0})
	f.Fuzz(func(t *testing.T, interleave bool, script []byte) {
		const window = 2048
		box := newInbox(t)
		in := NewIncoming(Receiving{Streams: 2, Interleave: interleave, Window: window}, box)
		seen := map[uint32]bool{}
		payload := make([]byte, 300)
		for ; len(script) >= 5; script = script[5:] {
			d := chunk.Data{
				Interleaved: interleave, TSN: uint32(script[0]), Flags: script[1] & 15, Stream: uint16(script[1] >> 4 & 1),
				Message: uint32(int8(script[2])), Fragment: uint32(script[3]), Payload: payload[:1+script[4]],
			}
			if !interleave {
				d.Message, d.Fragment = d.Message&0xffff, 0
			} else if d.Flags&chunk.FlagBegin != 0 {
				d.Fragment = 0
			}
			if seen[d.TSN] {
				continue
			}
			taken, err := in.Add(&d, script[1]&0x20 != 0)
			require.LessOrEqual(t, in.Held(), 2*window)
			if err != nil {
				return
			}
			seen[d.TSN] = taken
		}
		sum := 0
		for _, h := range in.held {
			sum += len(h.Payload) + fragmentCost
		}
		require.Equal(t, sum, in.Held())
	})
}
