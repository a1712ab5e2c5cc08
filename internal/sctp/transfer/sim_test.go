package transfer

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/recovery"
	"github.com/strandmp/strand/internal/sctp/chunk"
	"github.com/strandmp/strand/internal/sctp/stream"
)

// A simulation is an association of one direction: messages from a sender to a receiver over one or several
// networks, each of which is a path. Time is virtual.
type simulation struct {
	*Sender
	t        testing.TB
	now      time.Duration
	links    []*network
	out      *stream.Outgoing
	receiver *Receiver
	in       *stream.Incoming
	window   int
	setup    setup
	awake    func(host int, at time.Duration) time.Duration // when a host goes on that would do something at a time

	text      []byte
	pushed    [streams]uint32 // messages
	inFlight  int             // messages that are not confirmed
	got       [streams]uint32
	offset    [streams]int // in the message that arrives
	goodput   int
	last      time.Duration // when something was handed over,
	stall     time.Duration // and the longest time between
	spare     []*stream.Message
	chunks    []Chunk
	piece     []byte // that arrives
	arrived   []emulate.Delivery
	sacks     int
	remaining int // messages that are still to be sent
	size      func() int
}

type setup struct {
	config     Config
	interleave bool
	scheduler  string
	window     int
	control    func(int) recovery.Controller
	held       time.Duration
	mostProbe  time.Duration
	below      uint32 // how far below the wrap numbers begin
	size       func() int
	messages   int
}

// A network joins host 0, the sender, and host 1.
type network struct {
	wire
	frames [frames]frame
	next   int
}

// A wire is an [emulate.Switch], or like one.
type wire interface {
	Send(at time.Duration, from, to int, frame emulate.Frame, size int) (copies, flip int)
	Next() (at time.Duration, ok bool)
	Due(now time.Duration, out []emulate.Delivery) []emulate.Delivery
}

const (
	frames     = 1 << 14
	streams    = 3
	packetSize = 1400
	onTheWire  = packetSize + 28 + emulate.EthernetHeader
	endless    = 1 << 30
	heldLong   = 25 * time.Millisecond
)

type frame struct {
	chunks []Chunk
	sack   []byte
}

func simulate(t testing.TB, c setup, nets ...emulate.Config) *simulation {
	var wires []wire
	for _, n := range nets {
		net, err := emulate.New(n)
		require.NoError(t, err)
		wires = append(wires, net)
	}
	return simulateOn(t, c, wires...)
}

func simulateOn(t testing.TB, c setup, wires ...wire) *simulation {
	if c.control == nil {
		c.control = func(packet int) recovery.Controller { return recovery.NewCubic(packet) }
	}
	if c.window == 0 {
		c.window = 4 << 20
	}
	if c.held == 0 {
		c.held = heldLong
	}
	awake := func(_ int, at time.Duration) time.Duration { return at }
	s := &simulation{t: t, awake: awake, setup: c, window: c.window, text: make([]byte, 1<<17), remaining: c.messages, size: c.size, arrived: make([]emulate.Delivery, 0, 64)}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range s.text {
		s.text[i] = byte(r.Uint32())
	}
	var err error
	s.out, err = stream.NewOutgoing(stream.Sending{Streams: streams, Interleave: c.interleave, Scheduler: c.scheduler})
	require.NoError(t, err)
	c.config.Outgoing, c.config.TSN, c.config.Window = s.out, -c.below, uint32(c.window)
	s.Sender = NewSender(c.config)
	s.receiver = NewReceiver(-c.below, Receiving{Held: c.held})
	s.in = stream.NewIncoming(stream.Receiving{Streams: streams, Interleave: c.interleave, Window: c.window}, s)
	for _, net := range wires {
		s.AddPath(recovery.Config{Packet: packetSize, Held: c.held, Guess: 50 * time.Millisecond, MostProbe: c.mostProbe}, c.control(packetSize))
		s.links = append(s.links, &network{wire: net})
	}
	return s
}

// link is a path of a rate and a delay one way, with a queue of so many bytes.
func link(rate emulate.Rate, delay time.Duration, queue int, change func(*emulate.Path)) emulate.Config {
	p := emulate.Path{Delay: delay}
	if change != nil {
		change(&p)
	}
	return emulate.Uniform(2, emulate.Link{NIC: emulate.NIC{Rate: rate, Queue: emulate.Queue{Bytes: queue, Frames: 1 << 15}}, Path: p}, 1)
}

// product is the bandwidth × delay of a link.
func product(rate emulate.Rate, delay time.Duration) int {
	return max(int(float64(rate)/8*(2*delay).Seconds()), 20*onTheWire)
}

// payload is what a message has at an offset: the receiver knows what to expect.
func (s *simulation) payload(stream uint16, number uint32) []byte {
	return s.text[(int(number)*7919+int(stream)*104729)%(1<<16):]
}

// push has as much queued as fills some packets.
func (s *simulation) push() {
	for s.remaining > 0 && s.out.Queued() < 1<<17 {
		id := uint16(s.remaining % streams)
		m := &stream.Message{Pieces: make([][]byte, 1)}
		if n := len(s.spare); n > 0 {
			m, s.spare = s.spare[n-1], s.spare[:n-1]
		}
		m.Stream, m.Size, m.PPID = id, s.size(), s.pushed[id]
		m.Pieces[0] = s.payload(id, s.pushed[id])[:m.Size]
		s.may(s.out.Push(m))
		s.pushed[id]++
		s.remaining--
		s.inFlight++
	}
}

// Receive implements [stream.Receiver].
func (s *simulation) Receive(id uint16, ppid uint32, piece []byte, end bool) {
	want := s.payload(id, s.got[id])[s.offset[id]:]
	if ppid != s.got[id] || string(want[:len(piece)]) != string(piece) {
		require.Fail(s.t, "another message", "stream %d: %d in place of %d, at %d", id, ppid, s.got[id], s.offset[id])
	}
	s.offset[id] += len(piece)
	s.goodput += len(piece)
	s.stall = max(s.stall, s.now-s.last)
	s.last = s.now
	if end {
		s.got[id]++
		s.offset[id] = 0
	}
}

// run lets time pass, until a time or until all has been confirmed.
func (s *simulation) run(end time.Duration) {
	for s.now < end {
		s.push()
		s.fill()
		if s.remaining == 0 && s.Idle() {
			return
		}
		next := end
		for _, l := range s.links {
			if at, ok := l.Next(); ok {
				next = min(next, at)
			}
		}
		for host, at := range []int64{s.At(), s.receiver.Due()} {
			if at != 0 {
				next = min(next, s.awake(host, max(time.Duration(at), s.now)))
			}
		}
		s.now = max(next, s.now)
		for i, l := range s.links {
			s.arrived = l.Due(s.now, s.arrived[:0])
			for _, d := range s.arrived {
				s.arrives(i, d)
			}
		}
		if due := s.receiver.Due(); due != 0 && due <= int64(s.now) && !s.sleeps(1) {
			s.answer()
		}
		if at := s.At(); at != 0 && at <= int64(s.now) && !s.sleeps(0) {
			s.Tick(int64(s.now))
		}
	}
}

// sleeps reports whether a host does nothing.
func (s *simulation) sleeps(host int) bool { return s.awake(host, s.now) > s.now }

// must ends the test if something does not hold. It is asked for each packet, for which testify takes half of a test's time.
func (s *simulation) must(holds bool, what string) {
	if !holds {
		s.t.Fatalf("%s: %v", what, s)
	}
}

// may ends the test if something that is done for each packet has failed.
func (s *simulation) may(err error) {
	if err != nil {
		s.t.Fatalf("%v: %v", err, s)
	}
}

func (s *simulation) fill() {
	for !s.sleeps(0) {
		path, bytes, ok := s.Next(int64(s.now))
		if !ok {
			return
		}
		s.must(bytes > 0, "something is to be sent, of no bytes")
		s.chunks = s.Take(int64(s.now), path, chunk.HeaderSize, packetSize, s.chunks[:0])
		if len(s.chunks) == 0 {
			return
		}
		l := s.links[path]
		f := &l.frames[l.next%frames]
		f.chunks = append(f.chunks[:0], s.chunks...)
		size := chunk.HeaderSize
		for _, c := range f.chunks {
			size += c.Fragment.Size(s.setup.interleave)
		}
		s.must(size <= packetSize, "a packet is too long")
		l.send(s.now, 0, 1, size)
	}
}

func (l *network) send(now time.Duration, from, to, size int) {
	l.Send(now, from, to, emulate.Frame(l.next%frames), size+28+emulate.EthernetHeader)
	l.next++
}

func (s *simulation) answer() {
	l := s.links[s.receiver.path]
	f := &l.frames[l.next%frames]
	f.chunks = f.chunks[:0]
	f.sack = s.receiver.AppendSACK(f.sack[:0], packetSize-chunk.HeaderSize, s.in.Window())
	s.sacks++
	l.send(s.now, 1, 0, chunk.HeaderSize+len(f.sack))
}

func (s *simulation) arrives(path int, d emulate.Delivery) {
	f := &s.links[path].frames[d.Frame]
	switch d.To {
	case emulate.Dropped:
	case 0:
		sack, err := chunk.ParseSACK(chunk.Chunk{Type: chunk.TypeSACK, Value: f.sack[4:]})
		s.may(err)
		s.may(s.Acknowledge(int64(s.now), &sack))
		for m := s.Confirmed(); m != nil; m = s.Confirmed() {
			s.spare = append(s.spare, m)
			s.inFlight--
		}
	default:
		immediate := false
		for _, c := range f.chunks {
			s.receive(c)
			immediate = immediate || c.Immediate
		}
		s.receiver.Packet(int64(s.now), path, immediate)
	}
}

// receive takes a chunk. What is late may be of a message that is confirmed, and used again.
func (s *simulation) receive(c Chunk) {
	if s.receiver.Check(c.TSN) != Fresh {
		return
	}
	var d chunk.Data
	c.Fragment.Header(&d, c.TSN, s.setup.interleave)
	s.piece = c.Fragment.AppendTo(s.piece[:0])
	d.Payload = s.piece
	taken, err := s.in.Add(&d, s.receiver.Next(c.TSN))
	s.may(err)
	if taken {
		s.receiver.Add(c.TSN)
	}
}

// share is how much of a rate is payload that was handed over since.
func (s *simulation) share(rate emulate.Rate, before int, since time.Duration) float64 {
	full := float64(packetSize-chunk.HeaderSize-s.header()) / onTheWire
	return float64(s.goodput-before) * 8 / full / (s.now - since).Seconds() / float64(rate)
}

// steady runs for some time, and returns the share of a rate in the time after.
func (s *simulation) steady(rate emulate.Rate, before, then time.Duration) float64 {
	s.run(before)
	had := s.goodput
	s.run(before + then)
	return s.share(rate, had, before)
}

func (s *simulation) String() string {
	text := fmt.Sprintf("%+v, %d acknowledgements, %d outstanding, stall %v", s.Counters, s.sacks, s.Outstanding(), s.stall)
	for i := range s.ways {
		p := s.Path(i)
		text += fmt.Sprintf("\n%v: %+v, window %d, under way %d, round trip %v", s.State(i), p.Counters, p.Window(), p.UnderWay(), time.Duration(p.Smoothed))
	}
	return text
}

func always(size int) func() int { return func() int { return size } }
