package sm

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// newRing is both ends of one in ordinary memory.
func newRing(size int) (*writer, *reader) {
	words := make([]uint64, size/8)
	ring := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
	head := new(atomic.Uint64)
	w, r := newWriter(ring, head), newReader(ring, head)
	return &w, &r
}

// read returns the next record, or the next frame of a bunch as if it were one. It reports false if there is none.
func read(t testing.TB, r *reader) (c record, ok bool) {
	word := r.next()
	if word == 0 {
		return c, false
	}
	require.NoError(t, r.parse(word, &c))
	if c.kind == kindBunch {
		var err error
		c.header, c.payload, err = r.fromBunch(c.payload)
		require.NoError(t, err)
		c.length = len(c.payload)
		if c.kind = kindWhole; c.header == nil {
			r.advance(c.size)
			return read(t, r)
		}
	}
	c.header, c.payload = bytes.Clone(c.header), bytes.Clone(c.payload)
	if !r.amid() {
		r.advance(c.size)
	}
	return c, true
}

// Frames of all sizes, whole and in pieces, come out as they went in, round and round.
func TestRing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	w, in := newRing(minRing)
	payload := make([]byte, 3*minRing)
	for i := range payload {
		payload[i] = byte(r.Uint32()) | 1 // so that old bytes look like words
	}
	for range 2000 {
		n := r.IntN(1 << r.IntN(17))
		f := &btl.Frame{Header: payload[:1+r.IntN(btl.MaxHeader)], Payload: payload[n/2 : n/2+n], Size: n}
		var got []byte
		left := -1 // of a frame in pieces; -1: there was no header yet
		read := func() bool {
			c, ok := read(t, in)
			if !ok {
				return false
			}
			switch c.kind {
			case kindWhole, kindBegin:
				require.Equal(t, f.Header, c.header)
				got, left = append(got, c.payload...), c.length-len(c.payload)
			case kindPiece:
				got, left = append(got, c.payload...), left-c.length
			}
			return true
		}
		if wordSize+len(f.Header)+n <= wholeLimit {
			for !w.whole(f) {
				require.True(t, read() || w.err == nil)
			}
		} else {
			for !w.begin(f) {
				read()
			}
			for f.Progress < n {
				wrote := w.piece(f, w.pieceOf(n))
				require.True(t, wrote > 0 || read(), "there is neither room nor anything to read")
				f.Progress += wrote
			}
		}
		for read() {
		}
		require.NoError(t, w.err)
		require.Zero(t, left)
		require.True(t, bytes.Equal(f.Payload, got))
	}
}

// A reader that has read all leaves room for anything, though it has not told the writer of the last of it; else each would wait for the
// other. It is so in rings of all sizes, wherever the next record begins.
func TestRoomOnceAllIsRead(t *testing.T) {
	payload := make([]byte, largePiece)
	for ring := minRing; ring <= maxRing; ring *= 2 {
		w, _ := newRing(ring)
		store := len(w.store)
		untold := uint64(store/tellEvery-1) / line * line // at most, as for the slots
		at := func(left int) *writer {
			here := *w
			here.from, here.bytes, here.freed = store-left, untold, 0
			here.count, here.seen = uint64(len(w.ends)/tellEvery-1), 0
			return &here
		}
		largest := w.pieceOf(math.MaxInt)
		mosts := []int{smallPiece, smallPiece + 16*line, 2*smallPiece + line, 8 << 10, 16 << 10, largest - line, largest}
		for left := 0; left <= largest+line; left += line * (1 + left/wholeLimit) {
			for size := slotRoom; size <= wholeLimit; size += line {
				_, ok := at(left).room(blocks(size))
				require.True(t, ok, "a frame of %d bytes, %d before the end of %d", size, left, store)
			}
			for _, most := range mosts {
				most = min(most, largest)
				for _, size := range []int{1, most/2 + 1, most - line + 1, most} {
					f := &btl.Frame{Payload: payload, Size: size}
					require.NotZero(t, at(left).piece(f, most), "a piece of %d bytes, %d at most, %d before the end of %d", size, most, left, store)
				}
			}
		}
	}
}

// The turns of the slots, and both counters, are gone through to their ends: a word of the turn before is no record, nor is one that
// was never written.
func TestRingAtTheEndOfItsNumbers(t *testing.T) {
	for name, age := range map[string]func(*position){
		"turns":       func(p *position) { p.turn = 1<<64 - oneTurn },
		"records":     func(p *position) { p.count = 1<<48 - 9 },
		"all records": func(p *position) { p.count = 1<<64 - 9 },
		"bytes":       func(p *position) { p.bytes = uint64(len(p.store)) << 40 },
	} {
		w, in := newRing(minRing)
		age(&w.position)
		age(&in.position)
		w.seen, w.freed = w.count, w.bytes
		in.told, in.toldBytes = in.count, in.bytes
		w.head.Store(w.count)
		for i := range 5 * len(w.ends) {
			_, ok := read(t, in)
			require.False(t, ok, "%s: %d", name, i)
			f := &btl.Frame{Header: []byte("header"), Payload: bytes.Repeat([]byte{byte(i)}, 10*(i%100))}
			f.Size = len(f.Payload)
			require.True(t, w.whole(f), "%s: %d", name, i)
			again := make([]byte, f.Size)
			require.True(t, w.again(w.payloadOf(f), again), "%s: %d", name, i)
			require.Equal(t, f.Payload, again, "%s: %d", name, i)
			c, ok := read(t, in)
			require.True(t, ok, "%s: %d", name, i)
			require.Equal(t, f.Payload, c.payload, "%s: %d", name, i)
		}
	}
}

// A reader that says that it has read more than was written is mad: the writer gives up.
func TestNonsenseAboutWhatWasRead(t *testing.T) {
	for _, head := range []uint64{1, 7, 1 << 63, ^uint64(minRing)} {
		for _, written := range []int{minRing / slotShare / slotSize, 0} {
			w, _ := newRing(minRing)
			for range written {
				require.True(t, w.goodbye())
			}
			w.head.Store(head + uint64(written))
			_, ok := w.room(len(w.store) + 1)
			assert.False(t, ok, head)
			assert.ErrorIs(t, w.err, errHead, head)
		}
	}
}

// A frame that is lent has something in it: there would be no end to reading one that has nothing.
func TestNothingIsLent(t *testing.T) {
	_, in := newRing(minRing)
	var c record
	require.ErrorContains(t, in.parse(wordOf(kindLent, 16, 0), &c), "malformed record: 0 bytes")
	require.NoError(t, in.parse(wordOf(kindLent, 16, 1), &c))
}

// The short way to a frame in one piece finds what the long one finds, or nothing.
func TestWholeFrameTheShortWay(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	_, in := newRing(minRing)
	found := 0
	for range 20_000 {
		in.from, in.slot = line*r.IntN(len(in.store)/line+1), slotSize*r.IntN(len(in.slots)/slotSize)
		word := wordOf(1+r.IntN(2), r.IntN(btl.MaxHeader+8), r.IntN(2*wholeLimit))
		if r.IntN(4) == 0 {
			word ^= 1 << r.IntN(64) // a length that is less than none in an int of 32 bits is among these
		}
		header, payload, size := in.whole(word)
		if header == nil {
			continue
		}
		found++
		var c record
		require.NoError(t, in.parse(word, &c))
		require.Equal(t, kindWhole, c.kind)
		require.Equal(t, c.size, size)
		require.True(t, &c.header[0] == &header[0] && len(c.header) == len(header) && len(c.payload) == len(payload))
	}
	require.Greater(t, found, 1000)
}

// A frame whole in its slot is found there whatever else a peer may have written, and on 32 bits too, where a length may be less than none.
func TestShortFrames(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	_, in := newRing(minRing)
	var to [btl.MaxHeader]byte
	found := 0
	check := func(word uint64) {
		in.slot = slotSize * r.IntN(len(in.slots)/slotSize)
		for i := range in.slots[in.slot:][:slotSize] {
			in.slots[in.slot+i] = byte(r.Uint32())
		}
		header, payload := in.short(word, &to)
		if header == nil {
			return
		}
		found++
		var c record
		require.NoError(t, in.parse(word, &c))
		require.Equal(t, kindWhole, c.kind)
		require.Equal(t, c.header, header)
		require.Equal(t, c.payload, payload)
	}
	for _, n := range []int{-1, -16, -17, -64, -wordSize - btl.MaxHeader, -1 << 31} {
		for h := range btl.MaxHeader + 2 {
			check(wordOf(kindWhole, h, n))
		}
	}
	require.Zero(t, found)
	for range 20_000 {
		word := wordOf(1+r.IntN(2), r.IntN(btl.MaxHeader+8), r.IntN(2*slotRoom))
		if r.IntN(4) == 0 {
			word ^= 1 << r.IntN(64)
		}
		check(word)
	}
	require.Greater(t, found, 1000)
}

// Whatever a peer writes into a ring, all that is found there lies in it.
func FuzzRing(f *testing.F) {
	for _, word := range []uint64{wordOf(kindWhole, 16, 8), wordOf(kindBegin, 64, 1<<30), wordOf(kindPiece, 0, 100), wordOf(kindLent, 57, 100), wordOf(kindGoodbye, 0, 0), wordOf(kindBunch, 0, bunchSize), ^uint64(0), wordOf(kindWhole, 1, -1)} {
		f.Add(binary.LittleEndian.AppendUint64(nil, word), uint16(0))
	}
	f.Fuzz(func(t *testing.T, b []byte, from uint16) {
		_, in := newRing(minRing)
		for _, part := range [][]byte{in.slots, in.store} {
			for i := 0; i < len(part); i += max(len(b), 1) {
				copy(part[i:], b)
			}
		}
		in.from = int(from) * line % (len(in.store) + line)
		for range 1000 {
			word := at(in.slots, in.slot).Load() % oneTurn // whatever its turn
			var c record
			if err := in.parse(word, &c); err != nil {
				assert.Less(t, len(err.Error()), 200)
				return
			}
			if c.size < 0 || c.size > len(in.store) || c.size%block != 0 || len(c.header) > btl.MaxHeader || len(c.payload) > max(c.size, slotRoom) {
				t.Fatalf("%+v", c)
			}
			for c.kind == kindBunch {
				header, payload, err := in.fromBunch(c.payload)
				if err != nil {
					return
				}
				if header == nil {
					break
				}
				if len(header) > btl.MaxHeader || len(payload) > bunchMost || in.begun > in.filled || in.filled > bunchSize {
					t.Fatalf("%d and %d bytes, %d of %d", len(header), len(payload), in.begun, in.filled)
				}
			}
			in.advance(c.size)
		}
	})
}

// What was written as one record can be read again until it is overwritten, and is not before the peer has read it.
func TestWhatTheRingKeeps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	w, in := newRing(minRing)
	type kept struct {
		place   uint64
		payload []byte
	}
	var all []kept
	unread, gone := 0, 0 // the first of those
	for i := range 3000 {
		f := &btl.Frame{Header: make([]byte, 1+r.IntN(btl.MaxHeader)), Payload: bytes.Repeat([]byte{byte(i) | 1}, r.IntN(1<<r.IntN(13)))}
		f.Size = len(f.Payload)
		for !w.whole(f) {
			_, ok := read(t, in)
			require.True(t, ok)
			unread++
		}
		all = append(all, kept{w.payloadOf(f), f.Payload})
		for at := gone; at < len(all); at++ {
			b := make([]byte, len(all[at].payload))
			if w.again(all[at].place, b) {
				require.Equal(t, all[at].payload, b)
			} else {
				require.Less(t, at, unread)
				gone = at + 1
			}
		}
	}
	require.Greater(t, gone, 2900)
}
