package udp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/weather"
)

// A storm has packets of a pair take their time, and get lost.
type storm struct {
	*weather.Network
	p       *pair
	start   int64
	packets map[emulate.Frame]func()
	next    emulate.Frame
	arrived []emulate.Delivery
}

func (p *pair) storm(net *weather.Network) *storm {
	s := &storm{Network: net, p: p, start: p.clock.Now(), packets: make(map[emulate.Frame]func()), arrived: make([]emulate.Delivery, 0, 64)}
	p.weather = s
	return s
}

func (s *storm) now() time.Duration { return time.Duration(s.p.clock.Now() - s.start) }

// takes takes a packet that has come to a rank, to hand it over later.
func (s *storm) takes(rank int, b []byte, take func([]byte)) {
	b = bytes.Clone(b)
	s.next++
	s.packets[s.next] = func() {
		if !s.p.ends[rank].link.over {
			take(bytes.Clone(b))
			s.p.ends[rank].m.answer()
		}
	}
	s.Send(s.now(), 1-rank, rank, s.next, len(b)+headers4)
}

// step lets a millisecond pass.
func (s *storm) step() {
	s.p.turn()
	s.p.clock.Advance(time.Millisecond)
	s.arrived = s.Due(s.now(), s.arrived[:0])
	for _, d := range s.arrived {
		s.packets[d.Frame]()
	}
}

// Whatever the weather was, once it is good all arrives within some times the longest wait between two probes, and some round trips.
func TestWhateverTheWeather(t *testing.T) {
	for seed := range need.Seeds(t, 8, 1000) {
		r := rand.New(rand.NewPCG(seed, 0x5EA))
		how := []string{"cubic", "reno"}[r.IntN(2)]
		p := connected(t, with(pCongestion, how), with(pProtect, protections[r.IntN(len(protections))]))
		s := p.storm(weather.New(seed, weather.Menu{Spells: 1 + r.IntN(5), Span: 5 * time.Second, Delay: 300 * time.Millisecond, Short: 1250, Long: 1500}))
		most, sent := 1<<r.IntN(17), [2]int{}
		chance := 1 + r.IntN(200)
		for s.now() < s.Calm() {
			if r.IntN(chance) == 0 {
				rank := r.IntN(2)
				if p.ends[rank].Send(frame("h", strings.Repeat("x", r.IntN(most))), r.IntN(3)) == btl.Taken {
					sent[rank]++
				}
			}
			s.step()
		}
		left := sent[0] + sent[1] - len(p.recv[0].Frames) - len(p.recv[1].Frames)
		end := s.Last() + 4*time.Second + time.Duration(20+left)*(s.RoundTrip()+4*time.Millisecond)
		for len(p.recv[0].Frames) < sent[1] || len(p.recv[1].Frames) < sent[0] || len(p.recv[0].Freed) < sent[0] || len(p.recv[1].Freed) < sent[1] {
			report := fmt.Sprintf("seed %d: %v after the weather: %d of %d, %d of %d; %+v %+v", seed, s.now()-s.Last(),
				len(p.recv[0].Frames), sent[1], len(p.recv[1].Frames), sent[0], p.ends[0].flow(), p.ends[1].flow())
			require.Less(t, s.now(), end, report)
			require.Zero(t, p.recv[0].Downs+p.recv[1].Downs, report)
			s.step()
		}
		p.weather = nil
		p.part()
	}
}
