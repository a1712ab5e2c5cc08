package param

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseSize(t *testing.T) {
	good := map[string]int64{
		"0": 0, "1": 1, "0064": 64, "64K": 64 << 10, "64k": 64 << 10, "3M": 3 << 20, "2G": 2 << 30, "5t": 5 << 40,
		"9223372036854775807": math.MaxInt64, "8388607T": 8388607 << 40,
	}
	for text, want := range good {
		got, err := ParseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "K", "-1", "+1", "1.5K", "64KB", "64 K", " 64", "1KK", "0x10", "1_000", "٣"} {
		_, err := ParseSize(text)
		require.ErrorIs(t, err, errSizeSyntax, "%q", text)
	}
	for _, text := range []string{"9223372036854775808", "8388608T", "99999999999999999999999K"} {
		_, err := ParseSize(text)
		require.EqualError(t, err, "too large: a size is at most 9223372036854775807 bytes", text)
	}
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 1: "1", 1023: "1023", 1024: "1K", 1025: "1025", 65536: "64K", 3 << 20: "3M", 1 << 40: "1T", 1 << 50: "1024T",
		math.MaxInt64: "9223372036854775807", -1024: "-1K",
	} {
		require.Equal(t, want, FormatSize(n))
	}
}

func TestSizeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]int64{1, 1 << 10, 1 << 20, 1 << 30, 1 << 40}).Draw(t, "unit")
		n := unit * rapid.Int64Range(0, math.MaxInt64/unit).Draw(t, "count")
		got, err := ParseSize(FormatSize(n))
		require.NoError(t, err)
		require.Equal(t, n, got)
	})
}

func FuzzSize(f *testing.F) {
	for _, text := range []string{"", "0", "64K", "9223372036854775807", "8388608T", "-1", "1.5M", "k"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseSize(text)
		if err != nil {
			require.Zero(t, n)
			return
		}
		require.GreaterOrEqual(t, n, int64(0))
		again, err := ParseSize(FormatSize(n))
		require.NoError(t, err)
		require.Equal(t, n, again)
	})
}
