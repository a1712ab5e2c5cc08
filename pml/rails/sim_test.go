package rails

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/strandmp/strand/btl"
)

// A sim is two processes, each with a Peer for the other one, and the paths between them. In the world of the model the other
// side does what suits it; here it is the same code, so that what both do at a time meets: connections that cross, appeals,
// a side that gives up what the other one still believes in.
type sim struct {
	*rand.Rand
	t      testing.TB
	seed   uint64
	now    int64
	events []event // by their time
	sides  [2]*side
	paths  []*path
	conns  int // connections made so far: their numbers
	log    []entry
}

// An event is what happens at a side. While that is stopped it waits.
type event struct {
	at   int64
	side *side
	do   func()
}

// A path is one way between the sides, as it is in truth.
type path struct {
	name    string
	answers [2]answer // to attempts of each side
	place   [2]place  // where each side has it
	spare   btl.Spare
	unmade  [2]bool // at first the transport of a side has no descriptor for it
	mute    bool    // connections by it carry nothing, without a word
	conn    int     // the number of its connection; 0: none
	since   int64   // it has been as it is
}

// A place is where a side has a path.
type place uint8

const (
	absent place = iota // only the other side can connect it
	standsBy
	chosen
)

// An answer is how attempts end, and after what time. Where there is no error they connect.
type answer struct {
	err   error
	after time.Duration
}

// failures are how attempts fail. All but the last may pass.
var failures = []error{
	syscall.ECONNREFUSED,
	syscall.EHOSTUNREACH,
	syscall.ETIMEDOUT,
	io.EOF,
	&btl.ConnError{Err: errors.New("no rank of this job"), Final: true},
}

const (
	// systemGivesUp is how long a system asks a host that does not answer: six repetitions, as Linux does.
	systemGivesUp = 127 * time.Second
	// handshakeTime is how long a process that is connected may be stopped, before who has connected gives up.
	handshakeTime = 10 * time.Second
	// soon is how long an attempt by a good path takes.
	soon = 5 * time.Millisecond
)

func newSim(t testing.TB, seed uint64) *sim {
	s := &sim{Rand: rand.New(rand.NewPCG(seed, 0x51DE)), t: t, seed: seed, now: int64(time.Hour)}
	for i := range 1 + s.IntN(4) {
		s.paths = append(s.paths, s.newPath(fmt.Sprint("path ", i)))
	}
	s.paths[0].place = [2]place{chosen, chosen}
	env := Env{Now: s.now, RailTimeout: 500 * time.Millisecond, PeerTimeout: time.Minute, Appeals: s.IntN(2) == 0}
	if s.IntN(8) == 0 {
		env.PeerTimeout = 0
	}
	for i := range s.sides {
		env.Slow = s.IntN(3)
		s.sides[i] = newSide(s, i, env)
	}
	return s
}

func (s *sim) newPath(name string) *path {
	p := &path{name: name, place: [2]place{chosen, chosen}, spare: btl.Spare(s.IntN(3)), since: s.now}
	switch n := s.IntN(10); {
	case n < 3:
		p.place = [2]place{standsBy, standsBy}
	case n < 4:
		p.place[s.IntN(2)] = absent
	}
	for i := range p.answers {
		p.answers[i] = s.answer(failures)
		p.unmade[i] = s.IntN(6) == 0
	}
	return p
}

// duration is one of any order that matters.
func (s *sim) duration() time.Duration {
	units := []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, 4 * time.Second}
	return time.Duration(1+s.IntN(9)) * units[s.IntN(len(units))]
}

// answer is a connection, or one of some failures.
func (s *sim) answer(failures []error) answer {
	if i := s.IntN(len(failures) + 1); i < len(failures) {
		return s.failure(failures[i : i+1])
	}
	return answer{nil, min(s.duration(), 3*time.Second)}
}

// failure is one of some.
func (s *sim) failure(failures []error) answer {
	a := answer{failures[s.IntN(len(failures))], s.duration()}
	if errors.Is(a.err, syscall.ETIMEDOUT) && s.IntN(4) == 0 {
		a.after = systemGivesUp
	}
	return a
}

// run lets time pass.
func (s *sim) run(until int64) {
	for {
		e, ok := s.next(until)
		if !ok {
			s.now = until
			return
		}
		s.now = max(s.now, e.at)
		e.side.happens(e.do)
	}
}

// next takes what is the first to happen before a time: an event, or that a side asks again.
func (s *sim) next(until int64) (first event, ok bool) {
	taken := -1
	for i, e := range s.events {
		if at := max(e.at, e.side.awake); at < until {
			first, until, taken = e, at, i
		}
	}
	for _, d := range s.sides {
		if at := max(d.wake, d.awake); d.wake != 0 && at < until {
			first, until, taken, ok = event{side: d, do: func() {}}, at, -1, true
		}
	}
	if taken >= 0 {
		s.events = slices.Delete(s.events, taken, taken+1)
		ok = true
	}
	first.at = until
	return first, ok
}

// schedule has something happen at a side later, unless it is none any more by then.
func (s *sim) schedule(d *side, after time.Duration, do func()) {
	if d.ended() {
		return
	}
	s.events = append(s.events, event{s.now + int64(after), d, do})
	slices.SortStableFunc(s.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
}

// cut ends the connection of a path.
func (s *sim) cut(p *path) {
	p.conn = 0
	s.reset(p)
}

// setMute has a path carry nothing, or carry again.
func (s *sim) setMute(p *path, mute bool) {
	p.mute = mute
	s.reset(p)
}

// reset tells who believes in a connection that is none any more, where the path carries that.
func (s *sim) reset(p *path) {
	if p.mute {
		return
	}
	for _, d := range s.sides {
		r := d.rail(p)
		s.schedule(d, time.Millisecond, func() {
			if r.State.Connected() && r.conn != p.conn {
				d.down(r, syscall.ECONNRESET)
			}
		})
	}
}

// An entry of the log is written out only where a sim has failed.
type entry struct {
	at     int64
	format string
	args   []any
}

func (e entry) String() string {
	return fmt.Sprintf("%9.3f ", sinceStart(e.at)) + fmt.Sprintf(e.format, e.args...)
}

func (s *sim) note(format string, args ...any) { s.log = append(s.log, entry{s.now, format, args}) }

func (s *sim) fatal(format string, args ...any) {
	for _, d := range s.sides {
		s.note("side %d: stage %d, failed for %d, asks again at %.3f, stopped until %.3f", d.no, d.peer.Stage, d.over, sinceStart(d.wake), sinceStart(d.awake))
		for _, r := range d.rails {
			s.note("  %s: %v, place %d, longest %v", r.path.name, r.State, r.path.place[d.no], time.Duration(r.longest))
		}
	}
	var log strings.Builder
	for _, e := range s.log {
		fmt.Fprintln(&log, e)
	}
	s.t.Fatalf("seed %d: %s\n%s", s.seed, fmt.Sprintf(format, args...), &log)
}

func sinceStart(at int64) float64 { return time.Duration(at - int64(time.Hour)).Seconds() }
