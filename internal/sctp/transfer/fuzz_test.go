package transfer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// Whatever a receiver says: no panic, no more under way than there may be, and sums that are right.
func FuzzAcknowledge(f *testing.F) {
	f.Add([]byte{10, 3, 200, 2, 4, 20, 0, 0, 1, 2})
	f.Add([]byte{1, 255, 0, 5, 5, 90, 4, 9, 1, 1, 3, 1, 1, 1, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		s := sending(t, Config{Multipath: len(script)%2 == 0}, 40, 2)
		now := int64(0)
		for ; len(script) >= 5; script = script[5:] {
			now += int64(script[0]) * ms
			if script[0]%8 == 0 {
				s.SetState(now, int(script[1]%2), State(script[2]%3))
			}
			s.Tick(now)
			send(s, now)
			cumulative := uint32(s.base) - 1 + uint32(int8(script[1]))
			gaps := []chunk.Gap{
				{First: uint16(script[3] % 16), Last: uint16(script[3]%16 + script[3]/64)},
				{First: uint16(script[4] % 32), Last: uint16(script[4]%32 + script[4]/64)},
			}[:script[0]%3]
			_ = s.Acknowledge(now, sack(t, cumulative, int64(script[2])*100, gaps, cumulative-uint32(script[3])))
			for s.Confirmed() != nil {
			}
			bytes := 0
			for n := s.base; n < s.next; n++ {
				if c := s.at(n); c.fate != arrived {
					bytes += int(c.fragment.Length)
				}
			}
			require.Equal(t, bytes, s.bytes)
			require.Zero(t, s.fates[left])
		}
	})
}
