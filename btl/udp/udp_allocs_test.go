//go:build !race

package udp

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/btl"
)

// In the steady state nothing is allocated for a frame, in either direction.
func TestNothingIsAllocatedForAFrame(t *testing.T) {
	for how := range protections {
		p := connected(t, with(pProtect, protections[how]))
		for rank, recv := range p.recv {
			quiet := &quiet{Receiver: recv}
			quiet.landing.Owner = quiet
			p.ends[rank].Recv, p.ends[rank].m.meddle = quiet, nil
		}
		there, back := p.recvOf(1), p.recvOf(0)
		long, short := frame("header", strings.Repeat("x", 4_000)), frame("header", "answer")
		step := func() {
			p.ends[0].Poll()
			p.ends[1].Poll()
			p.clock.Advance(10 * time.Microsecond) // the loop's timers take memory, once in many steps
		}
		exchange := func() {
			got, answers := there.got, back.got
			p.ends[0].Send(long, 0)
			for there.got == got {
				step()
			}
			p.ends[1].Send(short, 0)
			for back.got == answers {
				step()
			}
		}
		for range 100 {
			exchange()
		}
		assert.Zero(t, testing.AllocsPerRun(100, exchange), protections[how])
	}
}

func (p *pair) recvOf(rank int) *quiet { return p.ends[rank].Recv.(*quiet) }

// quiet is a receiver that keeps nothing.
type quiet struct {
	btl.Receiver
	landing    btl.Landing
	memory     [4_000]byte
	got, freed int
}

func (q *quiet) Writable()                 {}
func (q *quiet) Released(*btl.Frame)       { q.freed++ }
func (q *quiet) Deliver(_, _ []byte) error { q.got++; return nil }
func (q *quiet) End(*btl.Landing) error    { q.got++; return nil }
func (q *quiet) Begin(_ []byte, size int) (*btl.Landing, error) {
	q.landing.Set(size, q.memory[:size], nil, nil)
	return &q.landing, nil
}
