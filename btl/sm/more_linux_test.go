package sm

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// A rank that sends little at a time uses a few pages, again and again, and all of them only when it has sent a lot.
func TestTheFirstPagesAreUsedAgain(t *testing.T) {
	for _, size := range []int{200, 4 << 10, wholeLimit - 100} {
		w, in := newRing(256 << 10)
		f := &btl.Frame{Header: make([]byte, 20), Payload: make([]byte, size), Size: size}
		send := func(bytes int) {
			for sent := 0; sent < bytes; sent += blocks(size) {
				require.True(t, w.whole(f))
				_, ok := read(t, in)
				require.True(t, ok)
				require.Equal(t, len(w.store), len(in.store))
			}
		}
		send((moreAfter - 2) * firstStore)
		require.Equal(t, firstStore, len(w.store), size)
		send(moreAfter * len(w.all))
		require.Equal(t, len(w.all), len(w.store), size)
	}
}

// For a reader that is behind more is used at once. What is skipped then is less than half of the store.
func TestOneThatIsBehindFindsAllInUse(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for range 300 {
		w, in := newRing(256 << 10)
		payload := make([]byte, 4<<10)
		n := max(1+r.IntN(len(payload)), slotRoom)
		f := &btl.Frame{Header: payload[:20], Payload: payload, Size: n}
		for range r.IntN(300) {
			require.True(t, w.record(f))
			_, ok := read(t, in)
			require.True(t, ok)
		}
		wrote := 0
		for w.record(f) {
			wrote++
		}
		fit := min(len(w.ends), len(w.all)/2/blocks(n)) * (tellEvery - 1) / tellEvery
		require.GreaterOrEqual(t, wrote, fit, "%d bytes", n)
		for range wrote {
			c, ok := read(t, in)
			require.True(t, ok)
			require.Equal(t, n, c.length)
		}
		_, ok := read(t, in)
		require.False(t, ok)
		require.NoError(t, w.err)
	}
}

// No more is used than there is, whatever the peer says.
func TestMoreThanThereIs(t *testing.T) {
	for ring, times := range map[int]int{minRing: 0, 2 * minRing: 1, 64 * minRing: 6} {
		_, in := newRing(ring)
		for range times {
			require.NoError(t, in.useMore())
		}
		require.ErrorIs(t, in.useMore(), errMore)
		require.Equal(t, ring-ring/slotShare, len(in.store))
	}
}
