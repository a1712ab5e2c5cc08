package launch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/internal/launcher/pmi"
)

// TestValuesSurvive cuts any bytes for any limit and joins them again.
func TestValuesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(16, 1100).Draw(t, "limit")
		value := string(rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(t, "value"))
		pieces, err := cut(value, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pieces {
			if p == "" || len(p) >= limit || strings.ContainsAny(p, " =\n") {
				t.Fatalf("piece %q with limit %d", p, limit)
			}
		}
		got, err := join(func(n int) (string, error) { return pieces[n], nil })
		if err != nil {
			t.Fatal(err)
		}
		if got != value {
			t.Fatalf("%d bytes came back as %d others", len(value), len(got))
		}
	})
}

func TestValueTooLong(t *testing.T) {
	_, err := cut(string(make([]byte, maxPieces*16)), 16)
	assert.ErrorContains(t, err, "too long")
}

func TestKeysStayApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~\x00+%0-9]{1,12}`)
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		x, err := encodeKey(a, 64)
		if err != nil {
			t.Fatal(err)
		}
		y, err := encodeKey(b, 64)
		if err != nil {
			t.Fatal(err)
		}
		if (a == b) != (x == y) {
			t.Fatalf("%q and %q are written %q and %q", a, b, x, y)
		}
		for n := 1; n < 3; n++ {
			if pieceKey(x, n) == y {
				t.Fatalf("%q is a piece of %q", b, a)
			}
		}
		if strings.ContainsAny(x, " =\x00") || len(pieceKey(x, maxPieces)) >= 64 {
			t.Fatalf("%q", x)
		}
	})
}

func TestKeysRefused(t *testing.T) {
	for _, key := range []string{"", strings.Repeat("k", maxKeyText+1), strings.Repeat(" ", 30)} {
		_, err := encodeKey(key, 64)
		assert.Error(t, err, "%q", key)
	}
	_, err := encodeKey(strings.Repeat("k", maxKeyText), 64)
	assert.NoError(t, err)
}

func FuzzJoin(f *testing.F) {
	f.Add("2:YWJj", "ZGVm")
	f.Add("1:", "")
	f.Add("65536:x", "")
	f.Fuzz(func(t *testing.T, first, second string) {
		pieces := []string{first, second}
		value, err := join(func(n int) (string, error) {
			if n >= len(pieces) {
				return "", pmi.ErrNoKey
			}
			return pieces[n], nil
		})
		if err != nil {
			return
		}
		again, err := cut(value, 1024)
		require.NoError(t, err)
		got, err := join(func(n int) (string, error) { return again[n], nil })
		require.NoError(t, err)
		require.Equal(t, value, got)
	})
}
