package udp

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/recovery"
	"github.com/strandmp/strand/internal/test/wirepage"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// What was written is read again, with what follows it.
func TestItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		header := rapid.SliceOfN(rapid.Byte(), 1, btl.MaxHeader).Draw(t, "header")
		payload := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "payload")
		rest := rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "rest")
		number := rapid.Uint32().Draw(t, "number")

		b := append(append(appendFrame(nil, number, header, len(payload)), payload...), rest...)
		p, left, err := readFrame(b[1:], true)
		require.NoError(t, err)
		require.Equal(t, part{number: number, header: header, payload: payload, size: len(payload), whole: true}, p)
		require.Equal(t, rest, left)

		if len(payload) > 0 {
			offset := rapid.IntRange(0, 1<<20).Draw(t, "offset")
			size := offset + len(payload) + rapid.IntRange(0, 1<<20).Draw(t, "more")
			b = append(append(appendPart(nil, number, header, size, offset, len(payload)), payload...), rest...)
			p, left, err = readFrame(b[1:], false)
			require.NoError(t, err)
			require.Equal(t, part{number: number, header: header, payload: payload, size: size, offset: offset}, p)
			require.Equal(t, rest, left)
		}

		var ranges []recovery.Range
		for n, last := rapid.IntRange(1, 1+mostRanges).Draw(t, "ranges"), uint64(1<<40); len(ranges) < n; {
			length := rapid.Uint64Range(0, 1000).Draw(t, "length")
			ranges = append(ranges, recovery.Range{First: last - length, Last: last})
			last -= length + 2 + rapid.Uint64Range(0, 1000).Draw(t, "gap")
		}
		got, held, left, err := readAck(append(appendAck(nil, ranges, number), rest...)[1:], nil)
		require.NoError(t, err)
		require.Equal(t, ranges, got)
		require.Equal(t, number, held)
		require.Equal(t, rest, left)
	})
}

// Where nothing is lost one range has all packets that there ever were. In the end it is longer than an acknowledgement can tell, and
// what it tells is the newest of them.
func TestAcknowledgementOfVeryManyPackets(t *testing.T) {
	for _, last := range []uint64{math.MaxUint32 - 1, math.MaxUint32, 1 << 32, 1<<32 + 7, 1 << 40} {
		got, _, _, err := readAck(appendAck(nil, []recovery.Range{{First: 0, Last: last}}, 0)[1:], nil)
		require.NoError(t, err)
		assert.Equal(t, []recovery.Range{{First: last - min(last, math.MaxUint32), Last: last}}, got)

		older := []recovery.Range{{First: last + 2, Last: last + 3}, {First: 0, Last: last}}
		got, _, _, err = readAck(appendAck(nil, older, 0)[1:], nil)
		require.NoError(t, err)
		assert.Equal(t, []recovery.Range{older[0], {First: last - min(last, math.MaxUint32), Last: last}}, got)
	}
}

// Whatever comes is read within its bounds, and names no byte beyond its frame.
func FuzzItems(f *testing.F) {
	f.Add(appendFrame(nil, 7, []byte("header"), 0))
	f.Add(append(appendPart(nil, 7, []byte("header"), 100, 50, 3), 1, 2, 3))
	f.Add(appendAck(nil, []recovery.Range{{First: 90, Last: 99}, {First: 3, Last: 10}}, 5))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, whole := range []bool{true, false} {
			p, rest, err := readFrame(b, whole)
			if err != nil {
				continue
			}
			if len(p.header) == 0 || len(p.header) > btl.MaxHeader || p.offset < 0 || p.size < 0 || p.offset+len(p.payload) > p.size || len(rest) >= len(b) {
				t.Fatalf("%+v", p)
			}
		}
		ranges, _, rest, err := readAck(b, nil)
		for i, r := range ranges {
			if err == nil && (r.First > r.Last || i > 0 && r.Last+1 >= ranges[i-1].First || len(ranges) > 1+mostRanges || len(rest) >= len(b)) {
				t.Fatalf("%v", ranges)
			}
		}
		_, _, _, _ = readHello(b)
		_, _, _ = readFloor(b)
	})
}

// A HELLO that is damaged anywhere is none: its numbers are not what the handshake proves.
func TestDamagedHello(t *testing.T) {
	whole := appendHello(nil, 1, 2, []byte("cookie"), []byte("message"))
	theirs, cookie, message, ok := readHello(whole)
	require.True(t, ok)
	assert.EqualValues(t, 2, theirs)
	assert.Equal(t, "cookie message", string(cookie)+" "+string(message))
	for i := range 8 * len(whole) {
		b := bytes.Clone(whole)
		b[i/8] ^= 1 << (i % 8)
		_, _, _, ok = readHello(b)
		require.False(t, ok, "bit %d", i)
	}
	for n := range whole {
		_, _, _, ok = readHello(whole[:n])
		require.False(t, ok, "%d bytes", n)
	}
}

// Parts of a frame arrive in any order, twice, and cut anew: the payload is whole when all of it has come,
// and no byte is put twice.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 200).Draw(t, "size")
		want, got, puts := make([]byte, size), make([]byte, size), 0
		for i := range want {
			want[i] = byte(i + 1)
		}
		landing := new(btl.Landing)
		cut := rapid.IntRange(0, size).Draw(t, "pieces of memory")
		landing.Set(size, got[:cut], [][]byte{got[cut:]}, nil)
		in := incoming{landing: landing, size: size, left: size, gaps: []span{{0, size}}}
		missing := make([]bool, size)
		for in.left > 0 {
			from := rapid.IntRange(0, size-1).Draw(t, "from")
			to := rapid.IntRange(from+1, size).Draw(t, "to")
			before := in.left
			in.take(from, want[from:to])
			fresh := 0
			for i := from; i < to; i++ {
				if !missing[i] {
					missing[i] = true
					fresh++
				}
			}
			require.Equal(t, fresh, before-in.left)
			puts += fresh
			require.Equal(t, size-puts, landing.Left())
		}
		require.Equal(t, want, got)
	})
}

// A long frame has many holes where every second packet of a burst is lost, as where a queue is full.
func TestALongFrameHasManyHoles(t *testing.T) {
	const size = 16 << 20 // the most that btl_udp_max_frag may be
	p := connected(t, with(pMaxFrag, "16M"))
	b := make([]byte, leastPacket-headSize-sealSize-partSize-btl.MaxHeader)
	for offset := 0; offset+len(b) <= size; offset += 2 * len(b) {
		require.NoError(t, p.ends[1].frame(part{header: []byte("h"), payload: b, size: size, offset: offset}))
	}
}

// Frames are known apart that have arrived, whatever their order, however many there were.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var rec receiver
	rec.base = 1<<32 - 3000 // beyond what a packet says of a number
	seen := make(map[uint64]bool)
	for range 20_000 {
		n := rec.base + uint64(r.IntN(seenFrames)) - uint64(r.IntN(100))
		got, fresh, err := rec.number(uint32(n))
		require.NoError(t, err)
		switch {
		case n < 1<<32-3000 || seen[n]:
			require.False(t, fresh, "%d has arrived", n)
		default:
			require.True(t, fresh, "%d has not", n)
			require.Equal(t, n, got)
			seen[n] = true
			rec.done(n)
		}
		if n := rec.base; r.IntN(3) == 0 { // the oldest
			seen[n] = true
			rec.done(n)
		}
	}
	_, _, err := rec.number(uint32(rec.base + seenFrames))
	require.ErrorIs(t, err, errNumber)
}

// guards are those of the two ends of a connection.
func guards(t testing.TB, how int) (a, b *guard) {
	a, b = &guard{how: how, overhead: sealSize}, &guard{how: how, overhead: sealSize}
	for i, both := range []*[2]direction{&a.out, &b.in, &a.in, &b.out} {
		require.NoError(t, begin(both, func(n uint64) (cipher.AEAD, error) {
			key := make([]byte, 16)
			key[0], key[1] = byte(i/2), byte(n)
			block, err := aes.NewCipher(key)
			require.NoError(t, err)
			return cipher.NewGCM(block)
		}))
	}
	return a, b
}

func TestGuard(t *testing.T) {
	for how := protectAuthenticated; how <= protectEncrypted; how++ {
		a, b := guards(t, how)
		for _, number := range []uint64{0, 1, 1<<generation - 1, 1 << generation, 1<<generation - 2, 1<<generation + 1, 2 << generation, 1<<generation + 2} {
			plain := append(appendHead(nil, kindData, 42, number), "items"...)
			sealed := bytes.Clone(a.seal(bytes.Clone(plain)))
			require.Len(t, sealed, len(plain)+sealSize)
			assert.Equal(t, how == protectAuthenticated, bytes.Contains(sealed, []byte("items")))
			for i := range sealed {
				forged := bytes.Clone(sealed)
				forged[i] ^= 1
				_, good := b.open(forged)
				require.False(t, good || i < 0, "byte %d of packet %d may be changed", i, number)
			}
			items, good := b.open(bytes.Clone(sealed))
			require.True(t, good, "packet %d", number)
			assert.Equal(t, "items", string(items))
			_, good = a.open(bytes.Clone(sealed))
			assert.False(t, good, "it is not the other direction's")
		}
		far := append(appendHead(nil, kindData, 42, 9<<generation), make([]byte, sealSize)...)
		_, good := b.open(far)
		assert.False(t, good, "no key is made for what is far ahead")
		assert.Equal(t, uint64(2), b.in[0].newest)
	}
}

// Acknowledgements have numbers of their own, which stay behind those of what they acknowledge: the keys of
// one count do not grow old by the other.
func TestGuardOfTwoCounts(t *testing.T) {
	for how := protectAuthenticated; how <= protectEncrypted; how++ {
		a, b := guards(t, how)
		for n := range uint64(5) {
			for _, p := range [][]byte{appendHead(nil, kindData, 42, n<<generation), appendHead(nil, kindAnswer, 42, n)} {
				_, good := b.open(a.seal(append(p, "items"...)))
				assert.True(t, good, "generation %d", n)
			}
		}
	}
}

// Whoever sees the connection's number may invent packets with those of later keys. None of them makes the
// present key grow old.
func TestGuardAgainstInventedNumbers(t *testing.T) {
	for how := protectAuthenticated; how <= protectEncrypted; how++ {
		a, b := guards(t, how)
		for n := range uint64(9) {
			_, good := b.open(append(appendHead(nil, kindData, 42, n<<generation), make([]byte, 40)...))
			assert.False(t, good)
		}
		for _, n := range []uint64{5, 1 << generation} {
			_, good := b.open(a.seal(append(appendHead(nil, kindData, 42, n), "items"...)))
			assert.True(t, good, "packet %d", n)
		}
	}
}

func BenchmarkGuard(b *testing.B) {
	for how, name := range protections {
		b.Run(name, func(b *testing.B) {
			out, in := guards(b, how)
			packet := appendHead(make([]byte, 0, 2000), kindData, 42, 7)[:1400]
			b.SetBytes(1400)
			for b.Loop() {
				if _, good := in.open(out.seal(packet)); !good {
					b.Fatal("refused")
				}
				packet = appendHead(packet[:0], kindData, 42, 7)[:1400]
			}
		})
	}
}

// docs/WIRE.md states the sizes that the code has.
func TestWirePage(t *testing.T) {
	page := wirepage.Sizes(t)
	assert.Equal(t, page["UDP FRAME"], frameSize-1)
	assert.Equal(t, page["UDP PART"], partSize-1)
	assert.Equal(t, page["UDP GREETING"], len(wireup.Greeting{Own: make([]byte, ownSize)}.Encode()))

	text := wirepage.Text(t)
	for number, name := range map[byte]string{
		kindHello: "HELLO", kindCookie: "COOKIE", kindData: "DATA", kindAnswer: "ANSWER", kindUnknown: "UNKNOWN",
		itemPadding: "PADDING", itemPing: "PING", itemAck: "ACK", itemFrame: "FRAME", itemPart: "PART", itemBye: "BYE", itemLeft: "LEFT",
		itemFloor: "FLOOR", itemWhere: "WHERE", itemHere: "HERE",
	} {
		assert.Contains(t, text, fmt.Sprintf("\n| `0x%02x` | %s |", number, name))
	}
	assert.Contains(t, text, fmt.Sprintf("| %d unprotected, %d authenticated, %d encrypted |", protectNone, protectAuthenticated, protectEncrypted))
	assert.Contains(t, text, fmt.Sprintf("how many ranges follow (1, at most %d)", mostRanges))
	assert.Contains(t, text, fmt.Sprintf("The sender holds at most %d. |", mostFrames))
	assert.Contains(t, text, fmt.Sprintf("divided by 2<sup>%d</sup>.", generation))
	assert.Contains(t, text, fmt.Sprintf("the cookie (%d) that is to be shown", wireup.CookieSize))
	assert.Contains(t, text, fmt.Sprintf("rank of the sender (4), proof (%d)", proofSize))
	assert.Contains(t, text, fmt.Sprintf("DATA and ANSWER have %d bytes more at their end", sealSize))
	assert.Contains(t, text, fmt.Sprintf("the size of this side's receive buffer, at least %d |", leastRoom))
}

// A packet has room for a part of any frame, however short the user wants it, and help says so.
func TestShortestPacket(t *testing.T) {
	c := config{packet: 1}
	assert.Equal(t, leastPacket, c.longest(reach.Address{Prefix: netip.MustParsePrefix("127.0.0.1/8")}, nil))
	for _, s := range specs {
		if s.Name == pPacket {
			assert.Contains(t, s.Help, fmt.Sprintf("%d at least", leastPacket))
		}
	}
}

// What a far link holds of short frames is held, and known apart.
func TestShortFramesMayBeMany(t *testing.T) {
	s, r := sender{path: recovery.NewPath[*piece](recovery.Config{Packet: 1400}, recovery.NewCubic(1400))}, receiver{}
	n := 0
	for ; s.room(false); n++ {
		s.take(&btl.Frame{Size: 8}, false)
	}
	const holds = 100_000_000 / 8 * 160 / 1000 // bytes: 100 Mbit/s with a round trip of 160 ms
	require.Greater(t, n, holds/(64+60))
	r.done(uint64(n - 1)) // the first of them may be lost
	_, fresh, err := r.number(uint32(n - 1))
	require.NoError(t, err)
	require.False(t, fresh)
	r.rest()
	_, fresh, err = r.number(uint32(n - 1))
	require.NoError(t, err)
	require.False(t, fresh, "it is not forgotten")
}
