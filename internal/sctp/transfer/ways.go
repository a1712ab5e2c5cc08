package transfer

import (
	"github.com/strandmp/strand/internal/recovery"
)

// A State is that of a path.
type State uint8

const (
	// Active paths may carry data.
	Active State = iota
	// Suspect ones have left probes unanswered. They carry data only if no other path is active. Heartbeats
	// find out whether they are back (RFC 7829).
	Suspect
	// Down ones have been given up by the association.
	Down
	// Unconfirmed ones are those over which nobody has answered yet. They carry no data while there is any
	// other path (RFC 9260, section 5.4).
	Unconfirmed
)

func (s State) String() string { return [...]string{"active", "suspect", "down", "unconfirmed"}[s] }

// A way is a path, and what is known of it here.
type way struct {
	path   *recovery.Path[Carried]
	packet int
	state  State
	errors int
	count  uint64   // of answers
	probe  bool     // one is due
	short  outcomes // of packets that are no longer than full ones are now
	rate   rate
}

// outcomes counts what has become of packets.
type outcomes struct {
	passed        uint64 // in all
	arrived, lost int    // since [Sender.Recount]
}

func (o *outcomes) note(arrived bool) {
	if arrived {
		o.passed++
		o.arrived++
	} else {
		o.lost++
	}
}

// Fate notes what has become of packets without data, such as heartbeats: so many are lost, and the one behind them may have arrived.
func (s *Sender) Fate(i, lost int, arrived bool) {
	w := &s.ways[i]
	w.short.lost += lost
	if arrived {
		w.short.note(true)
	}
}

// Recount has [Sender.Passed] say how likely losses are by what becomes of packets from now on.
func (s *Sender) Recount() {
	for i := range s.ways {
		w := &s.ways[i]
		w.short.arrived, w.short.lost = 0, 0
	}
}

// Passed is how many packets have got through over a path that were no longer than full ones are now, and how likely it is of late that one is lost: one more of
// two more than was seen, where little was (Laplace).
func (s *Sender) Passed(i int) (n uint64, loss float64) {
	o := &s.ways[i].short
	return o.passed, float64(o.lost+1) / float64(o.lost+o.arrived+2)
}

// AddPath adds a path, and returns its number. The first one is the primary path. Config.Packet is how long a
// full packet is, SCTP's header included.
func (s *Sender) AddPath(c recovery.Config, control recovery.Controller) int {
	s.ways = append(s.ways, way{path: recovery.NewPath[Carried](c, control), packet: c.Packet})
	return len(s.ways) - 1
}

// Path returns a path, for reports.
func (s *Sender) Path(i int) *recovery.Path[Carried] { return s.ways[i].path }

// Primary is the path that carries data if it can.
func (s *Sender) Primary() int { return s.primary }

// SetPrimary changes it.
func (s *Sender) SetPrimary(i int) { s.primary = i }

// Errors is how many times in a row no answer has come over a path when one was due: a probe is sent each time.
// An association gives the path up by it (RFC 9260, section 8.2).
func (s *Sender) Errors(i int) int { return s.ways[i].errors }

// Answers counts what has arrived over a path for certain: nothing else can have brought it.
func (s *Sender) Answers(i int) uint64 { return s.ways[i].count }

// State is a path's.
func (s *Sender) State(i int) State { return s.ways[i].state }

// SetState changes the state of a path, as when a heartbeat was answered or the path is given up. What is under
// way over one that is not active any more is sent again over another.
func (s *Sender) SetState(now int64, i int, to State) {
	w := &s.ways[i]
	from := w.state
	if w.state = to; to == Active {
		w.errors = 0
		s.gather(now)
		return
	}
	if from == Active && s.next > s.base {
		s.abandon(now, w)
	}
}

// gather has sent again, over an active path, what is under way over those that are not: it went there while none was active. Their
// probes would bring it over the same paths again and again.
func (s *Sender) gather(now int64) {
	for i := range s.ways {
		w := &s.ways[i]
		if w.state != Active && w.path.UnderWay() > 0 && s.next > s.base && s.another(i) {
			s.abandon(now, w)
		}
	}
}

func (s *Sender) abandon(now int64, w *way) {
	w.probe = false
	w.path.Abandon(now, (*owner)(s))
	s.resend(s.base, s.next, paused)
}

// Resize notes that full packets of a path are of another length from now on.
func (s *Sender) Resize(i, packet int) {
	w := &s.ways[i]
	w.packet = packet
	w.path.Resize(packet)
}

// current is the path that carries data, if they do not all: the primary one, or the best that there is.
func (s *Sender) current() int {
	best := s.primary
	for i := range s.ways {
		if s.ways[i].better(&s.ways[best]) {
			best = i
		}
	}
	return best
}

func (w *way) better(other *way) bool {
	if w.state != other.state {
		return w.state < other.state
	}
	if a, b := w.path.Barren(), other.path.Barren(); a != b {
		return a < b
	}
	return w.state != Active && w.errors < other.errors
}

// usable reports whether a path carries data, if they all do: the active ones that data gets through over, or the best that there is.
func (s *Sender) usable(i int) bool {
	return s.ways[i].state == Active && s.ways[i].path.Barren() == 0 || i == s.current()
}

// carries reports whether another packet with data may go over a path, whatever there is to send.
func (s *Sender) carries(i int) bool {
	if !s.config.Multipath {
		return i == s.current()
	}
	return s.usable(i) && !s.hasShare(i)
}

// answered notes that what was sent over a path has arrived. One that was given up the association has to take back.
func (s *Sender) answered(i uint8) {
	w := &s.ways[i]
	w.count++
	if w.state < Down {
		w.state, w.errors = Active, 0
	}
}

// At is when [Sender.Tick] is to be called, or [Sender.Next] has something more; 0: there is nothing to wait
// for.
func (s *Sender) At() int64 {
	if s.stands() {
		return 1
	}
	at := sooner(s.withdrawn, s.resumes)
	for i := range s.ways {
		w := &s.ways[i]
		at = sooner(at, w.path.At())
		if s.carries(i) {
			if wanted := min(s.wanted(w.packet), w.packet); wanted > 0 && w.path.Window()-w.path.UnderWay() >= wanted {
				at = sooner(at, max(w.path.Free(), 1))
			}
		}
	}
	return at
}

func sooner(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Tick does what is due. [Sender.Next] says what is to be sent then.
func (s *Sender) Tick(now int64) {
	for i := range s.ways {
		w := &s.ways[i]
		if !w.path.Tick(now, (*owner)(s)) || s.base == s.next {
			continue // nothing is asked that is not answered: the chunks have arrived in other packets
		}
		w.probe = true
		if s.bytes <= w.packet && now-w.path.Since() < int64(s.config.Patience) {
			continue // the peer's process may be busy: who waits for one packet only asks soon
		}
		w.errors++
		if w.state == Active && w.errors > 1+s.config.Suspect && s.another(i) {
			w.state = Suspect
			s.abandon(now, w)
		}
	}
	if s.withdrawn != 0 && now >= s.withdrawn {
		s.withdrawn = 0
		s.resend(s.base, s.next, withdrawn)
	}
	switch {
	case s.stands():
		s.resumes = 0
		s.resend(s.base, s.next, paused)
	case s.resumes != 0 && now >= s.resumes:
		s.resume(now)
	}
}

// stands reports whether all that is left pauses. It does so not to take the place of others, and there are none.
func (s *Sender) stands() bool {
	if s.fates[paused] == 0 || s.lostBytes > 0 {
		return false
	}
	for i := range s.ways {
		if s.ways[i].path.UnderWay() > 0 {
			return false
		}
	}
	return true
}

// resume has sent again what has paused for long enough.
func (s *Sender) resume(now int64) {
	s.resumes = 0
	for n := s.base; n < s.next && s.fates[paused] > 0; n++ {
		if s.at(n).fate != paused {
			continue
		}
		if until := s.until(n); until > now {
			s.resumes = sooner(s.resumes, until)
		} else {
			s.become(n, lost)
		}
	}
}

// until is for how long a chunk that is lost is to wait.
func (s *Sender) until(n uint64) int64 {
	c := s.at(n)
	return c.at + s.ways[c.way].path.Pause(int(c.sends))
}

// another reports whether there is another active path.
func (s *Sender) another(i int) bool {
	for j := range s.ways {
		if j != i && s.ways[j].state == Active {
			return true
		}
	}
	return false
}
