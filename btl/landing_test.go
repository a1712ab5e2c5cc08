package btl_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
)

// scattered is a place of runs.
type scattered [][]byte

func (s scattered) Run(offset int) []byte {
	for _, run := range s {
		if offset < len(run) {
			return run[offset:]
		}
		offset -= len(run)
	}
	return nil
}

func (s scattered) Put(offset int, b []byte) {
	for len(b) > 0 {
		n := copy(s.Run(offset), b)
		if n == 0 {
			return
		}
		offset, b = offset+n, b[n:]
	}
}

// A payload gets to its place in whichever way a transport writes it, and what is longer than the place is lost.
func TestLandingInAPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var place scattered
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			place = append(place, make([]byte, rapid.SampledFrom([]int{1, 7, 300, 16 << 10, 40_000}).Draw(t, "run")))
		}
		room := 0
		for _, run := range place {
			room += len(run)
		}
		from := rapid.IntRange(0, room).Draw(t, "from")
		payload := make([]byte, rapid.IntRange(0, room-from+100).Draw(t, "size"))
		for i := range payload {
			payload[i] = byte(i*7+i>>8) | 1
		}
		var l btl.Landing
		l.SetPlace(len(payload), place, from, make([]byte, 1000))
		for at := 0; l.Left() > 0; {
			require.Equal(t, at, l.Begun(len(payload)))
			n := rapid.IntRange(1, 50_000).Draw(t, "bytes")
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				at += l.Fill(payload[at:min(at+n, len(payload))])
			case 1:
				n = copy(l.Next()[:min(n, len(l.Next()))], payload[at:])
				l.Advance(n)
				at += n
			default:
				n = 0
				if b := l.Pin(); b != nil {
					require.False(t, l.Staged())
					n = copy(b, payload[at:])
					l.Unpin(n)
					l.Settle()
				}
				at += n
			}
		}
		want := make([]byte, room)
		copy(want[from:], payload)
		require.True(t, bytes.Equal(want, bytes.Join(place, nil)))
	})
}

// Parts that come in any order get to their places, and none once the place is taken back.
func TestLandingInAPlaceByParts(t *testing.T) {
	place := scattered{make([]byte, 3), make([]byte, 4)}
	var l btl.Landing
	l.SetPlace(5, place, 1, make([]byte, 10))
	l.Put(3, []byte{4, 5})
	require.Zero(t, l.Begun(5))
	l.Put(0, []byte{1, 2})
	require.Equal(t, scattered{{0, 1, 2}, {0, 4, 5, 0}}, place)
	l.Revoke(make([]byte, 10))
	l.Put(2, []byte{3})
	require.Equal(t, scattered{{0, 1, 2}, {0, 4, 5, 0}}, place)
	require.Zero(t, l.Left())
}

// The place of a payload may change while it arrives, in order or not.
func TestLandingThatIsDiverted(t *testing.T) {
	for _, place := range []btl.Place{nil, scattered{make([]byte, 3), make([]byte, 7)}} {
		for _, inOrder := range []bool{true, false} {
			var l btl.Landing
			if l.Set(10, make([]byte, 4), [][]byte{make([]byte, 6)}, nil); place != nil {
				l.SetPlace(10, place, 0, make([]byte, 10))
			}
			memory := []byte("1234567890")
			if inOrder {
				l.Fill([]byte("abcde"))
				l.Divert(memory)
				l.Fill([]byte("fghij"))
				require.Equal(t, "12345fghij", string(memory))
			} else {
				l.Put(7, []byte("hij"))
				l.Divert(memory)
				l.Put(0, []byte("abcdefg"))
				require.Equal(t, "abcdefg890", string(memory))
			}
			require.Zero(t, l.Left())
		}
	}
}
