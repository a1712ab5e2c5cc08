package sctp

import (
	"bytes"
	"testing"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

// sink takes frames and holds them to their bounds.
type sink struct {
	btl.Receiver
	t       *testing.T
	landing *btl.Landing
	whole   [][]byte
}

const sinkLimit = 1 << 12

func (s *sink) Deliver(header, payload []byte) error {
	if len(header) == 0 || len(header) > btl.MaxHeader || len(payload) > sinkLimit {
		s.t.Fatalf("a frame of %d and %d bytes", len(header), len(payload))
	}
	s.whole = append(s.whole, append(append([]byte{}, header...), payload...))
	return nil
}

func (s *sink) Begin(header []byte, size int) (*btl.Landing, error) {
	if s.landing != nil || size > sinkLimit {
		s.t.Fatalf("Begin of %d bytes", size)
	}
	b := append(append([]byte{}, header...), make([]byte, size)...)
	s.whole = append(s.whole, b)
	s.landing = new(btl.Landing)
	s.landing.Set(size, b[len(header):], nil, nil)
	return s.landing, nil
}

func (s *sink) End(l *btl.Landing) error {
	if l != s.landing || l.Left() != 0 {
		s.t.Fatal("End of what has not landed")
	}
	s.landing = nil
	return nil
}

func (s *sink) Drop(l *btl.Landing) {
	s.landing = nil
	s.whole = s.whole[:len(s.whole)-1]
}

// However a message is cut into pieces, it is the same frame, or no frame.
func FuzzFrame(f *testing.F) {
	good := make([]byte, prefixSize)
	prefix{payload: 5, header: 3}.put(good)
	good = append(good, "hdrABCDE"...)
	f.Add(good, byte(1))
	f.Add(good, byte(9))
	f.Add(append(good, 0), byte(4))
	f.Add(good[:10], byte(4))
	f.Fuzz(func(t *testing.T, message []byte, cut byte) {
		whole, pieces := &sink{t: t}, &sink{t: t}
		one, many := &endpoint{Conn: wireup.Conn{Recv: whole}}, &endpoint{Conn: wireup.Conn{Recv: pieces}}
		one.receiver.init(sinkLimit, 2)
		many.receiver.init(sinkLimit, 2)
		err := one.whole(message)

		s := &many.receiver.streams[0]
		var cutErr error
		for rest, size := message, int(cut)%70+1; cutErr == nil; {
			n := min(size, len(rest))
			piece := rest[:n]
			rest = rest[n:]
			cutErr = many.part(s, piece, len(rest) == 0)
			if len(rest) == 0 {
				break
			}
		}
		if (err == nil) != (cutErr == nil) {
			t.Fatalf("whole: %v, in pieces: %v", err, cutErr)
		}
		if err == nil && !bytes.Equal(whole.whole[0], pieces.whole[0]) {
			t.Fatalf("%x and %x", whole.whole[0], pieces.whole[0])
		}
	})
}
