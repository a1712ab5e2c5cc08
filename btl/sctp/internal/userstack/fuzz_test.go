package userstack

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
)

// clock is a loop of which only the time is asked.
type clock struct {
	btl.Loop
	now int64
}

func (c *clock) Now() int64 { return c.now }

var stranger = netip.MustParseAddrPort("192.0.2.7:4711")

// deaf is a stack whose one socket is closed; what it would have sent is in sent.
func deaf(accept func(stack.Association) stack.Handler) (s *Stack, so *socket, sent *[][]byte) {
	cfg, err := configure(stack.Config{Loop: &clock{now: 1}, Accept: accept, Room: func(netip.AddrPort) bool { return true }, Warn: func(netip.AddrPort, error) {},
		Tuning: stack.Tuning{Streams: 11, MaxMessage: 1 << 16, Outstanding: 1 << 20, Interleave: true}})
	if err != nil {
		panic(err)
	}
	s = &Stack{cfg: cfg, baker: newBaker(), byTag: make(map[uint32]*association)}
	so = &socket{s: s, closed: true, local: netip.MustParseAddrPort("192.0.2.1:5")}
	s.sockets = []*socket{so}
	sent = new([][]byte)
	s.Filter(func(b []byte) bool { *sent = append(*sent, b); return true })
	return s, so, sent
}

// repair gives a packet the ports and the checksum that it needs to get further
// than the first look.
func repair(b []byte) {
	if len(b) < minimalPacketSize {
		return
	}
	binary.BigEndian.PutUint16(b, port)
	binary.BigEndian.PutUint16(b[2:], port)
	binary.LittleEndian.PutUint32(b[8:], checksum(b))
}

func sampleOpening() *opening {
	return &opening{tag: 0x01020304, window: 1 << 20, out: 11, in: 11, tsn: 77, interleave: true}
}

// Whatever a stranger sends, nothing is kept of it and nothing breaks.
func FuzzStranger(f *testing.F) {
	f.Add(seal(sampleOpening().appendTo(newPacket(0, chunkInit, 0))))
	f.Add(sampleOpening().ask())
	f.Add(seal(append(newPacket(5, chunkCookieEcho, 0), make([]byte, cookieSize)...)))
	f.Add(abortPacket(5, flagReflected))
	f.Add(seal(append(newPacket(5, chunkIData, 3), make([]byte, 40)...)))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, so, sent := deaf(func(stack.Association) stack.Handler { t.Fatal("accepted"); return nil })
		repair(b)
		s.arrived(so, stranger, b)
		if len(s.byTag) != 0 || s.pending.Load() {
			t.Fatal("a stranger has left something behind")
		}
		for _, answer := range *sent {
			if len(answer) > len(b)+chunkHead+cookieSize {
				t.Fatalf("an answer of %d bytes to %d", len(answer), len(b))
			}
		}
	})
}

func FuzzOpening(f *testing.F) {
	f.Add(sampleOpening().init())
	withCookie := sampleOpening()
	withCookie.cookie = []byte("cookie")
	f.Add(seal(withCookie.appendTo(newPacket(1, chunkInitAck, 0)))[headerSize:])
	f.Fuzz(func(t *testing.T, c []byte) {
		o, err := parseOpening(c)
		if err != nil {
			return
		}
		again, err := parseOpening(o.init())
		o.cookie, o.mute = nil, false // the INIT for pion has no cookie, and always tells extensions
		require.NoError(t, err)
		require.Equal(t, o, again)
	})
}

// What comes in a datagram after the tag was guessed right.
func FuzzSetup(f *testing.F) {
	f.Add(seal(sampleOpening().appendTo(newPacket(9, chunkInitAck, 0))))
	f.Add(seal(newPacket(9, chunkCookieAck, 0)))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, so, _ := deaf(nil)
		a := s.newAssociation(so, stranger, false)
		a.ours = *sampleOpening()
		a.ours.tag = 9
		a.setup = &setup{a: a, repeat: stopped{}}
		a.h = ignorant{}
		s.byTag[9] = a
		if len(b) >= minimalPacketSize {
			binary.BigEndian.PutUint32(b[4:], 9)
		}
		repair(b)
		if len(b) > headerSize && b[headerSize] == chunkInitAck {
			s.cfg.Loop = quiet{}
		}
		s.arrived(so, stranger, b)
	})
}

type stopped struct{}

func (stopped) Stop() {}

type quiet struct{ clock }

func (quiet) Now() int64                            { return 1 }
func (quiet) After(time.Duration, func()) btl.Timer { return stopped{} }

type ignorant struct{ stack.Handler }

func (ignorant) Down(error) {}

func TestCookie(t *testing.T) {
	k := newBaker()
	theirs, ours := sampleOpening(), uint32(5)
	const now = int64(100 * time.Hour)
	b, first := k.bake(now, stranger, theirs, ours)
	require.Len(t, b, cookieSize)
	got, tsn, err := k.open(b, now+1, stranger, ours)
	require.NoError(t, err)
	require.Equal(t, theirs, got)
	require.Equal(t, first, tsn)

	open := func(b []byte, now int64, from string, tag uint32) error {
		_, _, err := k.open(b, now, netip.MustParseAddrPort(from), tag)
		return err
	}
	us := stranger.String()
	require.NoError(t, open(b, now+int64(cookieLife), us, ours))
	require.ErrorIs(t, open(b, now+int64(cookieLife+time.Second), us, ours), errCookie, "too old")
	require.ErrorIs(t, open(b, now-int64(time.Second), us, ours), errCookie, "from the future")
	require.ErrorIs(t, open(b, now, "192.0.2.7:4712", ours), errCookie, "another port")
	require.ErrorIs(t, open(b, now, "192.0.2.8:4711", ours), errCookie, "another address")
	require.ErrorIs(t, open(b, now, us, 6), errCookie, "another association")
	require.ErrorIs(t, open(b[:cookieSize-1], now, us, ours), errCookie, "cut off")
	for i := range b {
		changed := append([]byte(nil), b...)
		changed[i] ^= 1
		require.ErrorIs(t, open(changed, now, us, ours), errCookie, "byte %d", i)
	}
	_, _, err = newBaker().open(b, now, stranger, ours)
	require.ErrorIs(t, err, errCookie, "another process")
}

// A window is kept in KB, rounded down, and never below what RFC 9260 allows.
func TestCookieKeepsTheWindow(t *testing.T) {
	for offered, kept := range map[uint32]uint32{1500: 1500, 2048: 2048, 100_000: 97 << 10, 1 << 20: 1 << 20, 1 << 30: 65535 << 10} {
		theirs := sampleOpening()
		theirs.window = offered
		k := newBaker()
		b, _ := k.bake(1, stranger, theirs, 5)
		got, _, err := k.open(b, 1, stranger, 5)
		require.NoError(t, err)
		require.Equal(t, kept, got.window)
	}
}

// The answer to an address that nobody knows yet is no longer than what has come from it, if
// that was an INIT of ours, and otherwise longer by no more than the cookie.
func TestAnswersToStrangersAreShort(t *testing.T) {
	for name, test := range map[string]struct {
		ask  []byte
		most int
	}{
		"ours":                     {sampleOpening().ask(), 0},
		"ours, not interleaving":   {(&opening{tag: 1, window: 1 << 20, out: 2, in: 2}).ask(), 0},
		"another's":                {seal(sampleOpening().appendTo(newPacket(0, chunkInit, 0))), chunkHead + cookieSize},
		"another's, without words": {seal((&opening{tag: 1, window: 1 << 20, out: 2, in: 2, mute: true}).appendTo(newPacket(0, chunkInit, 0))), chunkHead + cookieSize},
	} {
		t.Run(name, func(t *testing.T) {
			s, so, sent := deaf(nil)
			s.arrived(so, stranger, test.ask)
			require.Len(t, *sent, 1)
			require.LessOrEqual(t, len((*sent)[0]), len(test.ask)+test.most)
			o, err := parseOpening(first((*sent)[0]))
			require.NoError(t, err)
			require.Len(t, o.cookie, cookieSize)
		})
	}
}

func TestRing(t *testing.T) {
	var r ring
	var waiting [][]byte
	var got [300]byte
	pop := func() {
		n := r.pop(got[:])
		require.Equal(t, waiting[0], got[:n])
		waiting = waiting[1:]
	}
	for round := range 5000 {
		b := make([]byte, 1+round*7%300)
		for i := range b {
			b[i] = byte(round + i)
		}
		require.True(t, r.push(b))
		waiting = append(waiting, b)
		if round%3 > 0 {
			pop()
		}
	}
	for !r.empty() {
		pop()
	}
	require.Empty(t, waiting)
	for n := 0; r.push(make([]byte, 8000)); n++ {
		require.Less(t, n, maxRing/8000+1, "it is bounded")
	}
}

func TestUnsupported(t *testing.T) {
	for parameter, tuning := range map[string]stack.Tuning{
		"nodelay":          {Delay: true},
		"rto_min":          {RTOMin: time.Second},
		"path_max_retrans": {PathMaxRetrans: 2},
		"autoclose":        {Autoclose: time.Second},
		"scheduler":        {Scheduler: "fc"},
	} {
		_, err := Open(stack.Config{Tuning: tuning})
		var unsupported *stack.UnsupportedError
		require.ErrorAs(t, err, &unsupported)
		require.Equal(t, parameter, unsupported.Parameter)
		require.ErrorContains(t, err, "btl_sctp_stack=kernel")
	}
}
