package coherence

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCopy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string) (all, part []byte) {
			before, n, after := rapid.IntRange(0, 130).Draw(t, what+" begins at"), rapid.IntRange(0, 3*Least).Draw(t, what), rapid.IntRange(0, 130).Draw(t, "and after it")
			all = make([]byte, before+n+after)
			return all, all[before : before+n : before+n]
		}
		there, to := draw("to")
		_, from := draw("from")
		for i := range from {
			from[i] = byte(i%251) + 1
		}
		n := Copy(to, from)
		require.Equal(t, min(len(to), len(from)), n)
		require.Equal(t, from[:n], to[:n])
		clear(to[:n])
		require.Equal(t, make([]byte, len(there)), there, "nothing else was written")
	})
}

// A breath and what is fetched change nothing.
func TestHints(t *testing.T) {
	b := make([]byte, Least)
	Pause()
	Fetch(unsafe.Pointer(&b[0]), len(b))
	FetchToWrite(unsafe.Pointer(&b[0]), len(b))
	require.Equal(t, make([]byte, Least), b)
}
