package udp

import (
	"strings"
	"testing"
	"time"

	"github.com/strandmp/strand/btl"
)

// BenchmarkStream sends frames of 256 KB in packets of at most 1400 bytes. One goroutine turns both ends, so that the time
// is what they take together.
func BenchmarkStream(b *testing.B) {
	const size = 256 << 10
	for how := range protections {
		b.Run(protections[how], func(b *testing.B) {
			p := connected(b, with(pProtect, protections[how]))
			recv := &sink{Receiver: p.recv[1], memory: make([]byte, size)}
			recv.landing.Owner = recv
			p.ends[1].Recv, p.ends[1].m.meddle, p.ends[0].m.meddle = recv, nil, nil
			p.ends[0].Recv = &sink{Receiver: p.recv[0]}
			f := frame("a header of some 30 bytes here", strings.Repeat("x", size))
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				got := recv.got
				p.ends[0].Send(f, 0)
				for recv.got == got {
					p.ends[1].Poll()
					p.ends[0].Poll()
					p.clock.Advance(10 * time.Microsecond)
				}
			}
		})
	}
}

// A sink has one place for all frames.
type sink struct {
	btl.Receiver
	landing btl.Landing
	memory  []byte
	got     int
}

func (s *sink) Writable()                 {}
func (s *sink) Released(*btl.Frame)       {}
func (s *sink) Deliver(_, _ []byte) error { s.got++; return nil }
func (s *sink) End(*btl.Landing) error    { s.got++; return nil }
func (s *sink) Begin(_ []byte, size int) (*btl.Landing, error) {
	s.landing.Set(size, s.memory[:size], nil, nil)
	return &s.landing, nil
}
