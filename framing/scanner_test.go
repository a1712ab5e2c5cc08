package framing

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
)

// lent counts the memory that is lent.
type lent struct{ now int }

func (l *lent) Take() []byte { l.now++; return make([]byte, ReadAhead) }

func (l *lent) Back(b []byte) {
	l.now--
	for i := range b {
		b[i] = 0xee // nobody may look at it any more
	}
}

// play shows a stream to a scanner in pieces of the given sizes, in one of both ways.
func play(s *Scanner, stream []byte, pull bool, piece func() int) error {
	defer s.Rest()
	for len(stream) > 0 {
		n := min(piece(), len(stream))
		b := bytes.Clone(stream[:n])
		var err error
		if pull {
			place, _ := s.Next()
			n = copy(place, b)
			err = s.Advance(n)
		} else {
			err = s.Feed(b)
			clear(b)
		}
		if err != nil {
			return err
		}
		stream = stream[n:]
	}
	return nil
}

// A fill is what is filled in around the payload of a frame.
type fill struct{ lead, trail int }

var fills = rapid.Custom(func(t *rapid.T) fill {
	n := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, MaxFill))
	return fill{n.Draw(t, "lead"), n.Draw(t, "trail")}
})

// append is Append for a frame that is filled in.
func (f fill) append(t require.TestingT, b []byte, frame *btl.Frame) []byte {
	at := len(b)
	b = Append(b, frame)
	require.Equal(t, Size(frame), len(b)-at)
	p := Prefix{Payload: frame.Size, Header: len(frame.Header), Filling: Filling{uint8(f.lead), uint8(f.trail)}}
	whole := make([]byte, p.Size())
	rest := p.PutHead(whole, frame.Header)
	copy(rest, b[at+PrefixSize+len(frame.Header):])
	return append(b[:at], whole...)
}

// Whatever the sizes of frames and of the pieces in which they come, each arrives once, whole
// and in order, and no memory is held when all have come.
func TestFramesComeOutAsTheyWentIn(t *testing.T) {
	sizes := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(wholeLimit-100, wholeLimit+100), rapid.IntRange(0, 40<<10))
	rapid.Check(t, func(t *rapid.T) {
		var stream []byte
		var want []btltest.Frame
		for i := range rapid.IntRange(1, 12).Draw(t, "frames") {
			payload := strings.Repeat(string(rune('a'+i)), sizes.Draw(t, "size"))
			f := btltest.Frame{Header: strings.Repeat("h", 1+i*5), Payload: payload}
			cut := len(payload) / 3
			frame := &btl.Frame{Header: []byte(f.Header), Payload: []byte(payload[:cut]), More: [][]byte{[]byte(payload[cut:])}, Size: len(payload)}
			stream = fills.Draw(t, "fill").append(t, stream, frame)
			want = append(want, f)
		}
		stream = AppendGoodbye(stream)
		var recv btltest.Receiver
		var memory lent
		var s Scanner
		s.Start(&recv, 40<<10, &memory)
		pieces := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(1, 9000))
		err := play(&s, stream, rapid.Bool().Draw(t, "pull"), func() int { return pieces.Draw(t, "piece") })
		require.ErrorIs(t, err, btl.ErrPeerClosed)
		require.Equal(t, want, recv.Frames)
		require.EqualValues(t, len(want), s.Frames())
		s.Stop(true)
		require.Zero(t, recv.Dropped)
		require.Zero(t, memory.now)
	})
}

// A frame of 64 KB, the commonest length of long ones, takes one read.
func TestFrameOfManyKBIsOneRead(t *testing.T) {
	f := btltest.Frame{Header: strings.Repeat("h", btl.MaxHeader+MaxFill), Payload: strings.Repeat("x", 64<<10)}
	var s Scanner
	s.Start(deaf{}, 1<<20, nil)
	place, direct := s.Next()
	require.False(t, direct)
	require.Greater(t, len(place), PrefixSize+len(f.Header)+len(f.Payload), "a short read says that this was all")
}

// What follows a long frame is mostly another one. Then its header is read alone, and all of its
// payload goes straight to its place.
func TestLongFrameAfterALongOneIsNotReadAhead(t *testing.T) {
	long, short := strings.Repeat("x", 100<<10), "y"
	var s Scanner
	var recv btltest.Receiver
	s.Start(&recv, 1<<20, nil)
	ahead := 0 // bytes of payload that were read ahead
	read := func(payload string) {
		rest := Append(nil, &btl.Frame{Header: []byte("header"), Payload: []byte(payload), Size: len(payload)})
		for len(rest) > 0 {
			place, direct := s.Next()
			n := copy(place, rest)
			if rest = rest[n:]; !direct {
				ahead += n
			}
			require.NoError(t, s.Advance(n))
		}
		ahead -= PrefixSize + len("header")
	}
	for _, tc := range []struct {
		payload string
		ahead   int
	}{
		{long, ReadAhead - PrefixSize - len("header")}, {long, 0}, {long, 0},
		{short, len(short)}, {short, len(short)}, {long, ReadAhead - PrefixSize - len("header")}, {long, 0},
	} {
		ahead = 0
		read(tc.payload)
		require.Equal(t, tc.ahead, ahead)
	}
	require.EqualValues(t, 7, s.Frames())
}

// So it is where more is filled in before its payload than before that of the one before.
func TestHeaderOfAnotherLengthIsReadAlone(t *testing.T) {
	var s Scanner
	var recv btltest.Receiver
	s.Start(&recv, 1<<20, nil)
	payload := bytes.Repeat([]byte{'x'}, 100<<10)
	var stream []byte
	for i := range 6 {
		frame := &btl.Frame{Header: []byte("header"), Payload: payload, Size: len(payload)}
		stream = fill{lead: i % 3 * 30, trail: 10}.append(t, stream, frame)
	}
	ahead, before := 0, 0
	for len(stream) > 0 {
		place, direct := s.Next()
		n := copy(place, stream)
		if stream = stream[n:]; !direct {
			ahead += n
		}
		require.NoError(t, s.Advance(n))
		if s.Frames() == 1 && before == 0 {
			before = ahead
		}
	}
	require.EqualValues(t, 6, s.Frames())
	require.Less(t, ahead-before, 6*(PrefixSize+MaxFill)*3, "the first one is read ahead")
}

// A scanner may be stopped in any up-call: nothing follows, and nothing is held.
func TestStopInAnUpCall(t *testing.T) {
	long := strings.Repeat("x", 20<<10)
	stream := Append(nil, &btl.Frame{Header: []byte("a"), Payload: []byte("small"), Size: 5})
	stream = Append(stream, &btl.Frame{Header: []byte("b"), Payload: []byte(long), Size: len(long)})
	stream = Append(stream, &btl.Frame{Header: []byte("c")})
	for _, pull := range []bool{true, false} {
		for at := range 4 { // first frame, Begin of the second, its End, third
			var memory lent
			var s Scanner
			calls := 0
			call := func() error {
				if calls++; calls > at+1 {
					t.Error("an up-call after Stop")
				} else if calls == at+1 {
					s.Stop(false)
				}
				return nil
			}
			recv := btltest.Receiver{OnFrame: func(btltest.Frame) error { return call() }, OnBegin: func([]byte, int) error { return call() }}
			s.Start(&recv, 40<<10, &memory)
			rest := stream
			for len(rest) > 0 && calls <= at {
				n := min(len(rest), 700)
				if pull {
					place, _ := s.Next()
					n = copy(place, rest[:n])
					require.NoError(t, s.Advance(n))
				} else {
					require.NoError(t, s.Feed(rest[:n]))
				}
				rest = rest[n:]
			}
			s.Rest()
			require.Zero(t, memory.now, "pull %v, up-call %d", pull, at)
			require.False(t, s.Landing())
		}
	}
}

// No Advance follows a read that brings nothing. If the landing is revoked then, the next bytes go
// to where the next call of Next says, however little room there is. The frame behind is found.
func TestRevokedAfterAReadThatBroughtNothing(t *testing.T) {
	stream := Append(nil, &btl.Frame{Header: []byte("b"), Payload: make([]byte, 10<<10), Size: 10 << 10})
	stream = Append(stream, &btl.Frame{Header: []byte("c"), Payload: []byte("next"), Size: 4})
	var recv revoker
	var s Scanner
	s.Start(&recv, 40<<10, nil)
	require.NoError(t, play(&s, stream[:5000], true, func() int { return 5000 }))
	_, direct := s.Next() // and the read brings nothing
	require.True(t, direct)
	recv.landing.Revoke(make([]byte, directMin/2))
	require.NoError(t, play(&s, stream[5000:], true, func() int { return len(stream) }))
	require.Zero(t, recv.landing.Left())
	require.EqualValues(t, 2, s.Frames())
	require.Equal(t, "next", recv.Frames[0].Payload)
}

// A message that is received into small pieces of memory, or of which little is left, takes few reads.
func TestSmallPiecesTakeFewReads(t *testing.T) {
	const size, small = 1 << 20, directMin / 2
	stream := Append(nil, &btl.Frame{Header: []byte("header"), Payload: make([]byte, size), Size: size})
	recv := scattered{small: small}
	var s Scanner
	s.Start(&recv, size, nil)
	reads := 0
	for rest := stream; len(rest) > 0; reads++ {
		place, _ := s.Next()
		n := copy(place, rest)
		rest = rest[n:]
		require.NoError(t, s.Advance(n))
	}
	require.EqualValues(t, 1, s.Frames())
	require.LessOrEqual(t, reads, size/ReadAhead+3)
}

// scattered is a receiver whose memory is in small pieces.
type scattered struct {
	deaf
	landing btl.Landing
	small   int
}

func (r *scattered) Begin(_ []byte, size int) (*btl.Landing, error) {
	var pieces [][]byte
	for left := size; left > 0; left -= r.small {
		pieces = append(pieces, make([]byte, min(left, r.small)))
	}
	r.landing.Set(size, pieces[0], pieces[1:], nil)
	return &r.landing, nil
}

func (r *scattered) End(*btl.Landing) error { return nil }

// revoker is a receiver that keeps the landing of a frame which begins.
type revoker struct {
	btltest.Receiver
	landing *btl.Landing
}

func (r *revoker) Begin(header []byte, size int) (l *btl.Landing, err error) {
	r.landing, err = r.Receiver.Begin(header, size)
	return r.landing, err
}

func (r *revoker) End(*btl.Landing) error { return nil }

// What half arrives is dropped.
func TestStopDropsWhatHasHalfArrived(t *testing.T) {
	stream := Append(nil, &btl.Frame{Header: []byte("b"), Payload: make([]byte, 20<<10), Size: 20 << 10})
	for _, pull := range []bool{true, false} {
		var recv btltest.Receiver
		var s Scanner
		s.Start(&recv, 40<<10, nil)
		require.NoError(t, play(&s, stream[:9000], pull, func() int { return 3000 }))
		require.Equal(t, 1, recv.Begun)
		s.Stop(true)
		require.Equal(t, 1, recv.Dropped)
	}
}

// Errors of the receiver end the stream, and so does what is malformed, wherever it is cut.
func TestErrorsEndTheStream(t *testing.T) {
	refusal := errors.New("refused")
	whole := Append(nil, &btl.Frame{Header: []byte("h"), Payload: []byte("p"), Size: 1})
	long := Append(nil, &btl.Frame{Header: []byte("h"), Payload: make([]byte, 20<<10), Size: 20 << 10})
	for _, pull := range []bool{true, false} {
		for _, piece := range []int{1, 3, 5000} {
			for _, stream := range [][]byte{whole, long} {
				recv := btltest.Receiver{OnFrame: func(btltest.Frame) error { return refusal }}
				var s Scanner
				s.Start(&recv, 40<<10, nil)
				require.ErrorIs(t, play(&s, stream, pull, func() int { return piece }), refusal)
				recv = btltest.Receiver{OnBegin: func([]byte, int) error { return refusal }}
				s.Start(&recv, 100, nil)
				if len(stream) > 100 {
					require.ErrorContains(t, play(&s, stream, pull, func() int { return piece }), "announced at most 100")
					s.Start(&recv, 40<<10, nil)
					require.ErrorIs(t, play(&s, stream, pull, func() int { return piece }), refusal)
				}
			}
		}
	}
}

// The path that every frame takes allocates nothing.
func TestScanningAllocatesNothing(t *testing.T) {
	stream := Append(nil, &btl.Frame{Header: []byte("h"), Payload: make([]byte, 100), Size: 100})
	stream = append(stream, stream...)
	s := Scanner{}
	memory := &pool{b: make([]byte, ReadAhead)}
	s.Start(deaf{}, 1000, memory)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		place, _ := s.Next()
		if s.Advance(copy(place, stream)) != nil {
			t.Fatal("malformed")
		}
		s.Rest()
	}))
	s.Start(deaf{}, 1000, memory)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if s.Feed(stream[:150]) != nil || s.Feed(stream[150:]) != nil {
			t.Fatal("malformed")
		}
	}))
}

type pool struct{ b []byte }

func (p *pool) Take() []byte { return p.b }
func (p *pool) Back([]byte)  {}

// deaf is a receiver that does nothing.
type deaf struct{ btl.Receiver }

func (deaf) Deliver(_, _ []byte) error { return nil }

// Whatever a peer sends, the scanner neither panics nor hands over a frame that is longer than
// announced, and what it takes is the same whether it is shown or read.
func FuzzScanner(f *testing.F) {
	f.Add(Append(AppendGoodbye(nil), &btl.Frame{Header: []byte("h")}), uint16(3))
	f.Add(Append(nil, &btl.Frame{Header: []byte("h"), Payload: make([]byte, 5000), Size: 5000}), uint16(700))
	f.Fuzz(func(t *testing.T, b []byte, piece uint16) {
		var seen [2]btltest.Receiver
		var errs [2]error
		for i := range seen {
			var s Scanner
			s.Start(&seen[i], 8000, nil)
			errs[i] = play(&s, b, i == 0, func() int { return int(piece) + 1 })
			s.Stop(true)
		}
		if (errs[0] == nil) != (errs[1] == nil) || len(seen[0].Frames) != len(seen[1].Frames) || seen[0].Dropped != seen[1].Dropped {
			t.Fatalf("%v and %v; %d and %d frames", errs[0], errs[1], len(seen[0].Frames), len(seen[1].Frames))
		}
		for i, fr := range seen[0].Frames {
			if fr != seen[1].Frames[i] || len(fr.Payload) > 8000 {
				t.Fatalf("frame %d: %.40v and %.40v", i, fr, seen[1].Frames[i])
			}
		}
	})
}
