package far_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/directory"
	"github.com/strandmp/strand/param"
)

// A kind is a transport as the message layer sees it: what it promises, and how much it takes before it is busy. Its congestion
// control is ideal: whatever was taken goes at the speed of the link.
type kind struct {
	name       string
	eager, max int
	ordered    bool
	confirms   bool
	retains    bool
	copied     int  // frames up to so many bytes are done with at once
	expedites  bool // control frames go first
	system     int  // the system takes so much that it has not sent; 0: frames are held until they have arrived
	held       int  // frames that may be held, whatever there is room for
	window     int  // bytes that may be under way; 0: any number
	confirmed  bool // what waits counts until it has arrived, and not only until it was sent
}

// The transports that there are.
var (
	tcp  = kind{name: "tcp", eager: 64 << 10, max: 1 << 20, ordered: true, copied: 4 << 10, system: 128 << 10, held: 8}
	udp  = kind{name: "udp", eager: 64 << 10, max: 256 << 10, confirms: true, expedites: true, held: 16 << 10}
	sctp = kind{name: "sctp", eager: 64 << 10, max: 64 << 10, ordered: true, retains: true, copied: 16 << 10, expedites: true, held: 1 << 15, window: 4 << 20, confirmed: true}
)

var all = []kind{tcp, udp, sctp}

// A link is one way, and back.
type link struct {
	rate float64 // bytes a nanosecond, either way
	trip time.Duration
}

// holds is how many bytes are under way where it is full, until news of them is back.
func (l link) holds() int { return int(l.rate * float64(l.trip)) }

type component struct {
	kind
	link
	modules directory.Directory[*module, *endpoint]
	long    atomic.Bool // a frame was longer than any may be
}

func (c *component) Name() string            { return "far" }
func (c *component) Declare(*param.Registry) {}

func (c *component) Open(h btl.Host) ([]btl.Module, error) {
	m := &module{c: c, host: h}
	m.id = c.modules.Enter(m)
	return []btl.Module{m}, nil
}

type module struct {
	c         *component
	id        uint64
	host      btl.Host
	endpoints []*endpoint
}

func (m *module) Attr() btl.Attr {
	k := &m.c.kind
	return btl.Attr{Name: "far", EagerLimit: k.eager, MaxFrame: k.max, Bandwidth: 1000, Latency: time.Millisecond, Lanes: 1,
		Ordered: k.ordered, Reliable: true, Confirms: k.confirms, Retains: k.retains, Secrecy: btl.Within}
}

func (m *module) Address() []byte { return binary.LittleEndian.AppendUint64(nil, m.id) }

func (m *module) Reach(p btl.Peer) ([]btl.Path, error) {
	if p.Rank == m.host.Rank() {
		return nil, errors.New("far: does not reach its own rank")
	}
	return []btl.Path{{Bandwidth: 1000, Latency: time.Millisecond, Weight: 1}}, nil
}

func (m *module) Connect(p btl.Peer, _ btl.Path, r btl.Receiver) (btl.Endpoint, error) {
	return m.endpoint(&endpoint{peer: p.Rank, address: binary.LittleEndian.Uint64(p.Address), receiver: r}), nil
}

func (m *module) endpoint(e *endpoint) *endpoint {
	e.m = m
	m.endpoints = append(m.endpoints, e)
	return e
}

func (m *module) Progress() bool { return false }

func (m *module) Close() error {
	for _, e := range m.endpoints {
		e.state = ended
	}
	m.c.modules.Leave(m.id)
	return nil
}

type state uint8

const (
	idle state = iota
	connecting
	up
	ended
)

type endpoint struct {
	m        *module
	peer     int
	address  uint64
	receiver btl.Receiver
	remote   *endpoint
	state    state
	busy     bool // Send has said so

	control, queue     []*item // what waits
	sending            bool
	full               bool    // the link was the limit: its speed is known
	given, sent, there int     // bytes: that were taken, that have left, and that are known to have arrived
	held               int     // frames
	passing            []*item // that the system has not taken yet
}

// overhead is of each frame, in bytes.
const overhead = 60

// An item is a frame under way.
type item struct {
	header  []byte
	frame   *btl.Frame // that is held
	payload []byte
	left    int // bytes that have not left
	end     int // by when it has, of all that was given
	landing *btl.Landing
}

// A chunk is a part of an item.
type chunk struct {
	*item
	n           int
	first, last bool
}

const (
	chunkSize = 16 << 10
	whole     = 4 << 10 // of a frame, that is not cut
)

func (e *endpoint) Desc() string {
	return fmt.Sprintf("far: rank %d → rank %d", e.m.host.Rank(), e.peer)
}

// refuses reports whether no other frame is taken.
func (e *endpoint) refuses() bool {
	c := e.m.c
	waits := e.given - e.sent
	switch {
	case e.held >= c.held:
		return true
	case c.system > 0:
		for _, i := range e.passing {
			waits -= i.left
		}
		return waits > c.system+64<<10
	case c.confirmed:
		return e.given-e.there >= e.room()
	}
	return waits >= e.room()
}

// room is how many bytes are taken.
func (e *endpoint) room() int {
	c := e.m.c
	if c.confirmed {
		return max(1<<20, min(2*c.holds(), 8<<20))
	}
	return min(max(2*c.holds(), 256<<10), 8<<20)
}

func (e *endpoint) Send(f *btl.Frame, lane int) btl.Result {
	c := e.m.c
	switch {
	case f.Size > c.max:
		c.long.Store(true)
	case e.state == idle:
		e.connect()
	}
	expedited := lane == btl.ControlLane && c.expedites
	if e.state != up || e.refuses() && !expedited {
		e.busy = true
		return btl.Busy
	}
	i := &item{header: append([]byte(nil), f.Header...), payload: make([]byte, f.Size), left: f.Size + overhead}
	f.CopyPayload(i.payload)
	e.given += i.left
	i.end = e.given
	result := btl.Done
	if c.confirms || f.Size > c.copied && e.given-e.sent > c.system {
		i.frame, result = f, btl.Taken
		e.held++
		if c.system > 0 {
			e.passing = append(e.passing, i)
		}
	}
	if expedited {
		e.control = append(e.control, i)
	} else {
		e.queue = append(e.queue, i)
	}
	if !e.sending {
		e.send()
	}
	return result
}

// send has what waits leave, a little at a time.
func (e *endpoint) send() {
	c := e.m.c
	e.sending = false
	if c.window > 0 && e.sent-e.there >= c.window {
		return
	}
	chunks, n := e.cut()
	if n == 0 {
		return
	}
	e.sending = true
	e.full = e.full || n >= chunkSize
	took, r := time.Duration(float64(n)/c.rate), e.remote
	r.later(took+c.trip/2, func() { r.arrive(chunks, n) })
	e.later(took, func() {
		e.sent += n
		for len(e.passing) > 0 && e.passing[0].end <= e.sent+c.system {
			e.release(e.passing[0])
			e.passing = e.passing[1:]
		}
		e.send()
		e.offer()
	})
}

func (e *endpoint) cut() (chunks []chunk, n int) {
	for n < chunkSize {
		q := &e.control
		if len(*q) == 0 {
			q = &e.queue
		}
		if len(*q) == 0 {
			break
		}
		i := (*q)[0]
		k := i.left
		if len(i.payload) > whole {
			k = min(k, chunkSize-n)
		}
		chunks = append(chunks, chunk{i, k, i.left == len(i.payload)+overhead, k == i.left})
		if i.left -= k; i.left == 0 {
			*q = (*q)[1:]
		}
		n += k
	}
	return chunks, n
}

// later has something done in the loop, also while nobody has anything to do there.
func (e *endpoint) later(d time.Duration, f func()) {
	time.AfterFunc(d, func() {
		e.m.host.Loop().Post(func() {
			if e.state == up {
				f()
			}
		})
	})
}

func (e *endpoint) release(i *item) {
	f := i.frame
	i.frame = nil
	e.held--
	e.receiver.Released(f)
}

func (e *endpoint) offer() {
	if e.busy && !e.refuses() && (!e.m.c.confirmed || e.given-e.there <= e.room()*3/4) {
		e.busy = false
		e.receiver.Writable()
	}
}

// arrive takes what has come to this side.
func (e *endpoint) arrive(chunks []chunk, n int) {
	for _, c := range chunks {
		if err := e.take(c); err != nil {
			panic(err)
		}
	}
	r := e.remote
	r.later(e.m.c.trip/2, func() { r.confirmed(chunks, n) })
}

func (e *endpoint) take(c chunk) (err error) {
	if c.first && c.last {
		return e.receiver.Deliver(c.header, c.payload)
	}
	if c.first {
		if c.landing, err = e.receiver.Begin(c.header, len(c.payload)); err != nil {
			return err
		}
	}
	k := c.landing.Left()
	if !c.last {
		k = min(k, c.n)
	}
	at := len(c.payload) - c.landing.Left()
	c.landing.Fill(c.payload[at : at+k])
	if c.last {
		err = e.receiver.End(c.landing)
	}
	return err
}

func (e *endpoint) confirmed(chunks []chunk, n int) {
	e.there += n
	for _, c := range chunks {
		if c.last && c.frame != nil && e.m.c.system == 0 {
			e.release(c.item)
		}
	}
	if !e.sending {
		e.send()
	}
	e.offer()
}

// Speed implements [btl.Speedometer].
func (e *endpoint) Speed() int64 {
	if e.m.c.system > 0 && !e.full {
		return 0
	}
	return int64(e.m.c.rate * 1e9)
}

func (e *endpoint) Close() error {
	e.state = ended
	return nil
}

func (e *endpoint) connect() {
	e.state = connecting
	e.m.host.PairKey(e.peer, func([]byte, error) {
		peer, known := e.m.c.modules.Ask(e.address, e)
		if !known {
			panic("nobody is there")
		}
		hello := e.m.host.Hello()
		peer.host.Loop().Post(func() { peer.asked(e, hello) })
	})
}

// asked: another module wants a connection. If both do, the lower rank's is the one.
func (m *module) asked(from *endpoint, hello []byte) {
	if !m.c.modules.Look(m.id, from) {
		return
	}
	rank := from.m.host.Rank()
	for _, own := range m.endpoints {
		if own.state != connecting {
			continue
		}
		if rank < m.host.Rank() {
			m.answer(from, own)
			own.welcome(from, hello)
		}
		return
	}
	e := m.endpoint(&endpoint{peer: rank, address: from.m.id, remote: from, state: up})
	var err error
	if e.receiver, err = m.host.Accept(m, rank, hello, 0, e); err != nil {
		panic(err)
	}
	m.answer(from, e)
	e.receiver.Up(hello)
}

func (m *module) answer(from, own *endpoint) {
	hello := m.host.Hello()
	from.m.host.Loop().Post(func() { from.welcome(own, hello) })
}

func (e *endpoint) welcome(remote *endpoint, hello []byte) {
	if e.state != connecting {
		return
	}
	e.remote, e.state = remote, up
	e.receiver.Up(hello)
	e.offer()
}
