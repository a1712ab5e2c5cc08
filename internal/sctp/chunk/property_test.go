package chunk

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What was written is what is read, and everything of it.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Header{rapid.Uint16().Draw(t, "source"), rapid.Uint16().Draw(t, "destination"), rapid.Uint32().Draw(t, "tag")}
		d := Data{
			Interleaved: rapid.Bool().Draw(t, "interleaved"), Flags: rapid.Uint8Range(0, 15).Draw(t, "flags"),
			TSN: rapid.Uint32().Draw(t, "tsn"), Stream: rapid.Uint16().Draw(t, "stream"),
			Message: uint32(rapid.Uint16().Draw(t, "message")),
			Payload: rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(t, "payload"),
		}
		if !d.Interleaved || d.Flags&FlagBegin != 0 {
			d.PPID = rapid.Uint32().Draw(t, "ppid")
		}
		if d.Interleaved {
			d.Message = rapid.Uint32().Draw(t, "message of 32 bits")
			if d.Flags&FlagBegin == 0 {
				d.Fragment = rapid.Uint32().Draw(t, "fragment")
			}
		}
		gap := rapid.Custom(func(t *rapid.T) Gap {
			return Gap{rapid.Uint16().Draw(t, "first"), rapid.Uint16().Draw(t, "last")}
		})
		gaps := rapid.SliceOfN(gap, 0, 5).Draw(t, "gaps")
		dups := rapid.SliceOfN(rapid.Uint32(), 0, 5).Draw(t, "duplicates")
		skipped := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Skipped {
			return Skipped{rapid.Uint16().Draw(t, "stream"), rapid.Bool().Draw(t, "unordered"), rapid.Uint32().Draw(t, "message")}
		}), 0, 5).Draw(t, "skipped")
		cookie := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "cookie")

		b := AppendHeader(nil, h)
		b = AppendSACK(b, 7, 8, gaps, dups)
		b = AppendForward(b, TypeForwardI, 9, skipped)
		b = AppendNumber(b, TypeShutdown, 10)
		b = Append(b, TypeCookieEcho, 0, cookie)
		b = AppendData(b, &d, d.Payload, nil)
		Seal(b)

		got, chunks, err := Parse(b, false)
		require.NoError(t, err)
		require.Equal(t, h, got)
		c, _ := chunks.Next()
		s, err := ParseSACK(c)
		require.NoError(t, err)
		require.Equal(t, SACK{Cumulative: 7, Window: 8, gaps: s.gaps, dups: s.dups}, s)
		require.Len(t, gaps, s.Gaps())
		for i := range gaps {
			require.Equal(t, gaps[i], s.Gap(i))
		}
		require.Len(t, dups, s.Duplicates())
		for i := range dups {
			require.Equal(t, dups[i], s.Duplicate(i))
		}
		c, _ = chunks.Next()
		f, err := ParseForward(c)
		require.NoError(t, err)
		require.Len(t, skipped, f.Count())
		for i := range skipped {
			require.Equal(t, skipped[i], f.Skipped(i))
		}
		c, _ = chunks.Next()
		n, err := ParseNumber(c)
		require.NoError(t, err)
		require.Equal(t, uint32(10), n)
		c, _ = chunks.Next()
		require.True(t, bytes.Equal(cookie, c.Value))
		c, _ = chunks.Next()
		e, err := ParseData(c)
		require.NoError(t, err)
		e.Payload = slices.Clip(e.Payload)
		require.True(t, bytes.Equal(d.Payload, e.Payload))
		d.Payload, e.Payload = nil, nil
		require.Equal(t, d, e)
		_, ok := chunks.Next()
		require.False(t, ok)
		require.True(t, chunks.Whole())

		// Any change of one byte is seen.
		at := rapid.IntRange(0, len(b)-1).Draw(t, "damaged")
		b[at] ^= rapid.Uint8Range(1, 255).Draw(t, "damage")
		_, _, err = Parse(b, false)
		require.ErrorIs(t, err, ErrChecksum)
	})
}

// Reading and writing allocate nothing.
func TestNoAllocation(t *testing.T) {
	b := make([]byte, 0, 1500)
	payload := make([]byte, 1000)
	gaps := []Gap{{2, 3}}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		d := Data{TSN: 1, Flags: FlagBegin | FlagEnd, Interleaved: true}
		b = AppendSACK(AppendHeader(b[:0], Header{}), 1, 2, gaps, nil)
		b = AppendData(b, &d, payload[:100], payload[100:])
		Seal(b)
		_, chunks, _ := Parse(b, false)
		for c, ok := chunks.Next(); ok; c, ok = chunks.Next() {
			if c.Type == TypeSACK {
				_, _ = ParseSACK(c)
			} else {
				_, _ = ParseData(c)
			}
		}
	}))
}
