package emulate

import (
	"fmt"
	"time"
)

// MaxHosts bounds a network: the number of paths is its square.
const MaxHosts = 256

// A Config is a network.
type Config struct {
	// NICs has one entry for each host, so it says how many hosts there are.
	NICs []NIC

	// Path returns what the way from one host to another is like. It is called
	// once for each.
	Path func(from, to int) Path

	Seed uint64

	// Down is when nothing gets through.
	Down Schedule
}

// Uniform is a network of so many hosts that are all alike.
func Uniform(hosts int, l Link, seed uint64) Config {
	c := Config{NICs: make([]NIC, hosts), Path: func(int, int) Path { return l.Path }, Seed: seed}
	for i := range c.NICs {
		c.NICs[i] = l.NIC
	}
	return c
}

// Frame names a frame to the caller, who has its bytes.
type Frame uint32

// A Switch is a network at work. It is not safe for concurrent use.
type Switch struct {
	out, in  []transmitter
	paths    []*path // from × hosts + to
	calendar calendar

	down     Schedule
	isDown   bool
	until    time.Duration // isDown holds until then
	lastSend time.Duration
}

// New makes a network in which nothing is on its way.
func New(c Config) (*Switch, error) {
	hosts := len(c.NICs)
	if hosts < 1 || hosts > MaxHosts {
		return nil, fmt.Errorf("a network of %d hosts: want 1 to %d", hosts, MaxHosts)
	}
	if err := c.Down.Check(); err != nil {
		return nil, err
	}
	s := &Switch{paths: make([]*path, hosts*hosts), down: c.Down}
	s.isDown, s.until = c.Down.Down(0)
	for host, nic := range c.NICs {
		if err := nic.Check(); err != nil {
			return nil, fmt.Errorf("host %d: %w", host, err)
		}
		s.out = append(s.out, newTransmitter(nic))
		s.in = append(s.in, newTransmitter(nic))
	}
	for from := range hosts {
		for to := range hosts {
			p := c.Path(from, to)
			if err := p.Check(); err != nil {
				return nil, fmt.Errorf("path from host %d to %d: %w", from, to, err)
			}
			s.paths[from*hosts+to] = newPath(p, c.Seed, from, to)
		}
	}
	return s, nil
}

// Hosts returns their number.
func (s *Switch) Hosts() int { return len(s.out) }

func (s *Switch) path(from, to int) *path { return s.paths[from*len(s.out)+to] }

// Send takes a frame that a host sends at a time, which is not before that of the host's last
// frame. Due will hand the frame out copies times: 0 if it is lost, 2 if it is doubled. If flip
// is not negative the caller flips that bit, counted from the end of the frame's Ethernet header.
func (s *Switch) Send(at time.Duration, from, to int, frame Frame, size int) (copies, flip int) {
	p := s.path(from, to)
	p.count.Sent++
	p.count.SentBytes += uint64(size)
	leaves, ok := s.out[from].admit(at, at, size)
	if !ok {
		p.count.DroppedOut++
		return 0, -1
	}
	f := p.next(leaves, size, s.cut(leaves))
	for range f.copies {
		s.calendar.add(event{due: f.arrive, frame: frame, size: uint32(size), from: uint16(from), to: uint16(to)})
	}
	return f.copies, f.bit
}

// cut reports whether the network is down when a frame leaves its sender. It keeps the schedule's
// last answer, since most frames leave in the order of time.
func (s *Switch) cut(at time.Duration) bool {
	if at < s.lastSend { // a frame of another host has left later, behind a longer queue
		down, _ := s.down.Down(at)
		return down
	}
	s.lastSend = at
	if at >= s.until {
		s.isDown, s.until = s.down.Down(at)
	}
	return s.isDown
}

// Next returns when Due has something to do, or false if nothing is on its way.
func (s *Switch) Next() (at time.Duration, ok bool) {
	if len(s.calendar.events) == 0 {
		return 0, false
	}
	return s.calendar.events[0].due, true
}

// A Delivery is what became of a frame.
type Delivery struct {
	Frame Frame
	To    int           // Dropped: it is not delivered
	Due   time.Duration // when it should have been
}

// Dropped is the destination of a frame that the receiver's queue had no room for.
const Dropped = -1

// Due appends to out what is due by a time, in the order of time, until out is full. It allocates
// nothing.
func (s *Switch) Due(now time.Duration, out []Delivery) []Delivery {
	for len(s.calendar.events) > 0 && s.calendar.events[0].due <= now && len(out) < cap(out) {
		e := s.calendar.pop()
		if !e.received && s.in[e.to].rate > 0 {
			// The switch passes bits on as they come in. So it may send this frame from when its
			// first bit came.
			in := &s.in[e.to]
			at, ok := in.admit(e.due, e.due-in.rate.duration(int(e.size)), int(e.size))
			if !ok {
				s.path(int(e.from), int(e.to)).count.DroppedIn++
				out = append(out, Delivery{Frame: e.frame, To: Dropped, Due: e.due})
				continue
			}
			if at > e.due {
				e.due, e.received = at, true
				s.calendar.add(e)
				continue
			}
		}
		count := &s.path(int(e.from), int(e.to)).count
		count.Delivered++
		count.DeliveredBytes += uint64(e.size)
		out = append(out, Delivery{Frame: e.frame, To: int(e.to), Due: e.due})
	}
	return out
}

// Counters returns what has happened from one host to another.
func (s *Switch) Counters(from, to int) Counters { return s.path(from, to).count }
