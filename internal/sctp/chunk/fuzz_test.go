package chunk

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever comes, nothing panics, nothing is read twice, and what was understood is the same when it is
// written again.
func FuzzDecode(f *testing.F) {
	for _, packet := range []string{pionInit, pionInitAck, pionData, pionSACK, pionAbort, pionCookieAck, pionZeroInit, pionZeroData} {
		f.Add(unhex(f, packet))
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		_, _, _ = Parse(packet, true)
		if _, err := ParseHeader(packet); err != nil {
			return
		}
		_ = First(packet).String()
		chunks := Chunks{packet[HeaderSize:]}
		seen := 0
		for c, ok := chunks.Next(); ok; c, ok = chunks.Next() {
			seen += len(c.Raw)
			require.LessOrEqual(t, seen, len(packet)-HeaderSize)
			again(t, c)
		}
	})
}

func again(t *testing.T, c Chunk) {
	var b []byte
	switch c.Type {
	case TypeData, TypeInterleaved:
		d, err := ParseData(c)
		if err != nil {
			return
		}
		if b = AppendData(nil, &d, d.Payload, nil); d.Interleaved {
			b[10], b[11] = c.Raw[10], c.Raw[11] // which nothing is said about
		}
	case TypeSACK:
		s, err := ParseSACK(c)
		if err != nil || SACKHeader+SACKItem*(s.Gaps()+s.Duplicates()) != len(c.Raw) {
			return
		}
		var gaps []Gap
		for i := range s.Gaps() {
			gaps = append(gaps, s.Gap(i))
		}
		var dups []uint32
		for i := range s.Duplicates() {
			dups = append(dups, s.Duplicate(i))
		}
		b = AppendSACK(nil, s.Cumulative, s.Window, gaps, dups)
		b[1] = c.Flags
	case TypeInit, TypeInitAck:
		i, err := ParseInit(c)
		if err != nil {
			return
		}
		var start int
		b, start = BeginInit(nil, c.Type, i)
		b[1] = c.Flags
		fields(t, i.Parameters)
		b = End(append(b, c.Value[initSize:]...), start)
	case TypeForward, TypeForwardI:
		x, err := ParseForward(c)
		for i := 0; err == nil && i < x.Count(); i++ {
			_ = x.Skipped(i)
		}
		return
	default:
		fields(t, Causes(c))
		_, _ = ParseNumber(c)
		b = Append(nil, c.Type, c.Flags, c.Value)
	}
	require.True(t, bytes.Equal(c.Raw, b[:len(c.Raw)]), "%v: %x, written again %x", c.Type, c.Raw, b)
}

func fields(t *testing.T, all Fields) {
	for f, ok := all.Next(); ok; f, ok = all.Next() {
		_, _ = f.Number()
		_ = CauseName(f.Code)
		a, ok := f.Address()
		if ok {
			require.Equal(t, f.Raw, AppendAddress(nil, a)[:len(f.Raw)])
		}
	}
}
