package udp

import (
	"bytes"
	"errors"
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

// A connection that is closed in any weather, at one end or both, ends at both: with all that was sent before, or with an error, if that
// takes longer than it may. Meanwhile one end may have moved.
func TestClosedInAnyWeather(t *testing.T) {
	for seed := range need.Seeds(t, 8, 1000) {
		r := rand.New(rand.NewPCG(seed, 0x5EA))
		p := connected(t)
		s := p.storm(weather.New(seed, weather.Menu{Spells: 1 + r.IntN(5), Span: 5 * time.Second, Delay: 300 * time.Millisecond}))
		sent := [2]int{}
		for end := time.Duration(r.Int64N(int64(s.Calm()))); s.now() < end; s.step() {
			if rank := r.IntN(2); r.IntN(20) == 0 && p.ends[rank].Send(frame("h", strings.Repeat("x", r.IntN(20_000))), 0) == btl.Taken {
				sent[rank]++
			}
		}
		if r.IntN(2) == 0 {
			p.moves("127.0.0.1:0")
		}
		closed := [2]bool{}
		first := r.IntN(2)
		for s.now() < s.Last()+8*time.Second+10*s.RoundTrip() && (!p.ends[0].link.over || !p.ends[1].link.over) {
			for rank := range 2 {
				if !closed[rank] && (rank == first || r.IntN(1000) == 0 || p.recv[rank].Downs > 0) {
					closed[rank] = true
					require.NoError(t, p.ends[rank].Close())
				}
			}
			s.step()
		}
		report := fmt.Sprintf("seed %d: %v after the weather: %v, %v", seed, s.now()-s.Last(), p.ends[0].link.over, p.ends[1].link.over)
		require.True(t, p.ends[0].link.over && p.ends[1].link.over, report)
		if errors.Is(p.recv[1-first].Err, btl.ErrPeerClosed) {
			require.Len(t, p.recv[1-first].Frames, sent[first], report)
		}
		p.weather = nil
	}
}
