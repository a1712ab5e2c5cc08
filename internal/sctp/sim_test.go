package sctp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/sctp/chunk"
	"github.com/strandmp/strand/internal/sctp/stream"
)

// A world is endpoints on a network of links. Time is virtual. Each address has a link of its own.
type world struct {
	t       testing.TB
	net     network
	awake   func(host int, at time.Duration) time.Duration // when a link's host goes on that would do something at a time
	now     time.Duration
	nodes   []*node
	cut     int               // bytes of a frame, of those that may be cut
	wire    [1 << 14]datagram // a ring: no more of them are on their way
	next    int
	arrived []emulate.Delivery
	// tap sees each packet as it leaves. Those for which it returns false are lost.
	tap func(d datagram) bool
}

type network interface {
	Send(at time.Duration, from, to int, frame emulate.Frame, size int) (copies, flip int)
	Next() (at time.Duration, ok bool)
	Due(now time.Duration, out []emulate.Delivery) []emulate.Delivery
}

type datagram struct {
	from, to netip.AddrPort
	bytes    []byte
	whole    bool
}

// A node is a process with an endpoint.
type node struct {
	*Endpoint
	w         *world
	host      int
	addresses []netip.Addr
	port      uint16 // of UDP
	users     []*user
	answers   int // packets that were sent right after one had come
	dead      bool
}

const (
	sctpPort  = 5000
	udpPort   = 6000
	ipHeaders = 28
)

// address is that of a host in a network: the link number network*hosts + host.
func address(network, host int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(network), 0, byte(host)})
}

func linkOf(a netip.Addr) int { b := a.As4(); return int(b[1])*hosts + int(b[3]) }

const hosts = 4

// newWorld makes a network for hosts with addresses in several networks.
func newWorld(t testing.TB, seed uint64, networks int, l emulate.Link) *world {
	c := emulate.Uniform(networks*hosts, l, seed)
	net, err := emulate.New(c)
	require.NoError(t, err)
	return newWorldOn(t, net)
}

func newWorldOn(t testing.TB, net network) *world {
	awake := func(_ int, at time.Duration) time.Duration { return at }
	return &world{t: t, net: net, awake: awake, cut: 1 << 16, arrived: make([]emulate.Delivery, 0, 64), tap: func(datagram) bool { return true }}
}

func (w *world) at() int64 { return int64(w.now) + 1 }

// join adds a node. Its associations belong to users that answer nothing.
func (w *world) join(host, networks int, change func(*Config)) *node {
	n := &node{w: w, host: host, port: udpPort}
	for i := range networks {
		n.addresses = append(n.addresses, address(i, host))
	}
	random := rand.New(rand.NewPCG(uint64(host), uint64(len(w.nodes))))
	c := Config{
		Port: sctpPort, Addresses: n.addresses, Random: random.Uint64,
		Accept: func(a *Association) Owner { return n.user(a) },
		Local: func(remote netip.AddrPort, _ netip.Addr) (Pair, bool) {
			return Pair{Local: address(int(remote.Addr().As4()[1]), host), Remote: remote, Most: 1452}, true
		},
	}
	if change != nil {
		change(&c)
	}
	var err error
	n.Endpoint, err = NewEndpoint(c)
	require.NoError(w.t, err)
	w.nodes = append(w.nodes, n)
	return n
}

func (n *node) user(a *Association) *user {
	u := &user{n: n, a: a, up: true, streams: make(map[uint16]*flow)}
	n.users = append(n.users, u)
	return u
}

// call begins an association with a node.
func (n *node) call(to *node) *user {
	var pairs []Pair
	for i, a := range n.addresses {
		if i < len(to.addresses) {
			pairs = append(pairs, Pair{Local: a, Remote: netip.AddrPortFrom(to.addresses[i], to.port), Most: 1452})
		}
	}
	return n.begin(pairs...)
}

// begin begins an association over pairs of addresses.
func (n *node) begin(pairs ...Pair) *user {
	u := n.user(nil)
	u.up = false
	var err error
	u.a, err = n.Associate(n.w.at(), pairs, sctpPort, u)
	require.NoError(n.w.t, err)
	n.flush(u.a)
	return u
}

// flush sends what an association has to send.
func (n *node) flush(a *Association) (packets int) {
	for !n.dead && n.w.awake(n.host, n.w.now) == n.w.now {
		packet, way, ok := a.Send(n.w.at(), nil)
		if !ok {
			return packets
		}
		packets++
		if size := len(packet); packets > 10_000 || size == 0 || size%4 != 0 || size > max(way.Most, way.Base) { // asked for each packet: testify would take a third of a test's time
			n.w.t.Fatalf("packet %d at a time, of %d bytes: %+v", packets, size, way)
		}
		n.send(way.Local, way.Remote, packet, way.Whole)
	}
	return packets
}

func (n *node) send(local netip.Addr, to netip.AddrPort, packet []byte, whole bool) {
	n.w.send(datagram{from: netip.AddrPortFrom(local, n.port), to: to, bytes: packet, whole: whole})
}

func (w *world) send(d datagram) {
	if !w.tap(d) {
		return
	}
	name := w.next % len(w.wire)
	w.next++
	size := len(d.bytes) + ipHeaders + emulate.EthernetHeader
	if !d.whole { // the network may cut it
		size = min(size, w.cut)
	}
	_, flip := w.net.Send(w.now, linkOf(d.from.Addr()), linkOf(d.to.Addr()), emulate.Frame(name), size)
	if flip >= 0 {
		d.bytes = bytes.Clone(d.bytes)
		if at := flip/8 - ipHeaders; at >= 0 {
			d.bytes[at] ^= 1 << (flip % 8)
		} else {
			d.bytes = nil // UDP would not have taken it
		}
	}
	w.wire[name] = d
}

// run lets time pass, until a time, or until done says so.
func (w *world) run(end time.Duration, done func() bool) {
	for w.now < end && (done == nil || !done()) {
		next := end
		if at, ok := w.net.Next(); ok {
			next = min(next, at)
		}
		for _, n := range w.nodes {
			for _, u := range n.users {
				if at := u.a.At(); at != 0 && !n.dead {
					next = min(next, w.awake(n.host, max(time.Duration(at), w.now)))
				}
			}
		}
		w.now = max(next, w.now)
		w.arrived = w.net.Due(w.now, w.arrived[:0])
		for _, d := range w.arrived {
			if packet := w.wire[d.Frame]; d.To != emulate.Dropped && packet.bytes != nil {
				w.deliver(packet)
			}
		}
		for _, n := range w.nodes {
			for _, u := range n.users {
				if at := u.a.At(); at != 0 && at <= w.at() && !n.dead && w.awake(n.host, w.now) == w.now {
					u.a.Tick(w.at())
					n.flush(u.a)
				}
			}
		}
	}
}

// deliver hands a packet to whom it is for.
func (w *world) deliver(d datagram) {
	for _, n := range w.nodes {
		if n.dead || d.to.Port() != n.port || linkOf(d.to.Addr())%hosts != n.host {
			continue
		}
		a, reply := n.Receive(w.at(), d.to.Addr(), d.from, d.bytes, nil)
		if reply != nil {
			n.answers++
			n.send(d.to.Addr(), d.from, reply, len(reply) <= leastTried)
		}
		if a != nil {
			n.flush(a)
		}
		return
	}
}

// A user sends numbered messages, and sees whether those that arrive are right.
type user struct {
	n         *node
	a         *Association
	up        bool
	down      error
	streams   map[uint16]*flow
	sent      int
	confirmed int
	received  int
	changes   int
}

// A flow is a stream of a user's.
type flow struct {
	sent, received int
	part           []byte
}

func (u *user) flow(s uint16) *flow {
	if u.streams[s] == nil {
		u.streams[s] = new(flow)
	}
	return u.streams[s]
}

// content is what the message of a number on a stream consists of.
func content(s uint16, number, size int) []byte {
	b := make([]byte, max(size, 16))
	binary.BigEndian.PutUint64(b, uint64(s))
	binary.BigEndian.PutUint64(b[8:], uint64(number))
	for i := 16; i < len(b); i++ {
		b[i] = byte(i*7 + number)
	}
	return b
}

// say sends a message.
func (u *user) say(s uint16, size int) {
	f := u.flow(s)
	b := content(s, f.sent, size)
	half := len(b) / 3
	require.NoError(u.n.w.t, u.a.Push(u.n.w.at(), &stream.Message{Stream: s, PPID: 7, Pieces: [][]byte{b[:half], b[half:]}, Size: len(b)}))
	f.sent++
	u.sent++
	u.n.flush(u.a)
}

func (u *user) Up() {
	require.False(u.n.w.t, u.up)
	u.up = true
}

// lives ends the test if the association has ended.
func (u *user) lives() {
	if u.down != nil {
		u.n.w.t.Fatalf("it has ended: %v", u.down)
	}
}

func (u *user) Receive(s uint16, ppid uint32, piece []byte, end bool) {
	u.lives()
	f := u.flow(s)
	f.part = append(f.part, piece...)
	if !end {
		return
	}
	if want := content(s, f.received, len(f.part)); ppid != 7 || !bytes.Equal(want, f.part) {
		u.n.w.t.Fatalf("stream %d, message %d, PPID %d: %x, want %x", s, f.received, ppid, f.part, want)
	}
	f.part = f.part[:0]
	f.received++
	u.received++
}

func (u *user) Confirmed(*stream.Message) {
	u.lives()
	u.confirmed++
}

func (u *user) PathChanged(int) { u.changes++ }

func (u *user) Down(err error) {
	require.NoError(u.n.w.t, u.down)
	require.Error(u.n.w.t, err)
	u.down = err
}

// other is the user at the other end.
func (u *user) other(n *node) *user {
	for _, o := range n.users {
		if o.a.peerTag == u.a.tag {
			return o
		}
	}
	return nil
}

func quiet() emulate.Link {
	return emulate.Link{NIC: emulate.NIC{Rate: 100 * emulate.Mbit, Queue: emulate.Queue{Bytes: 1 << 20, Frames: 1 << 12}}, Path: emulate.Path{Delay: 5 * time.Millisecond}}
}

// pair is two nodes, and an association between them.
func pair(t testing.TB, networks int, l emulate.Link, change func(*Config)) (w *world, here, there *user) {
	w = newWorld(t, 1, networks, l)
	a, b := w.join(0, networks, change), w.join(1, networks, change)
	here = a.call(b)
	w.run(w.now+time.Minute, func() bool { return here.up })
	require.True(t, here.up)
	require.Equal(t, Established, here.a.State())
	there = here.other(b)
	require.NotNil(t, there)
	return w, here, there
}

func types(packet []byte) (all []chunk.Type) {
	_, chunks, err := chunk.Parse(packet, true)
	if err != nil {
		return nil
	}
	for c, ok := chunks.Next(); ok; c, ok = chunks.Next() {
		all = append(all, c.Type)
	}
	return all
}

// An association comes up, carries messages both ways on several streams, and ends in order.
func TestLife(t *testing.T) {
	for _, interleave := range []bool{false, true} {
		w, here, there := pair(t, 1, quiet(), func(c *Config) { c.Interleave, c.ZeroChecksum = interleave, 1 })
		require.Less(t, w.now, 21*time.Millisecond, "two round trips")
		require.Equal(t, interleave, here.a.Interleaved())
		require.True(t, here.a.Unchecked() && there.a.Unchecked())
		for i := range 100 {
			here.say(uint16(i%10), 1<<(i%17))
			there.say(uint16(i%7), 1<<(i%13))
		}
		w.run(time.Minute, func() bool {
			return here.received == 100 && there.received == 100 && here.confirmed == 100 && there.confirmed == 100
		})
		require.Equal(t, 100, here.received, fmt.Sprint(w.now))
		require.Equal(t, 100, there.received)
		require.Equal(t, 100, here.confirmed)
		require.Zero(t, here.a.Queued())
		here.say(3, 100_000)
		here.a.Shutdown(w.at())
		here.n.flush(here.a)
		require.ErrorIs(t, here.a.Push(w.at(), &stream.Message{Pieces: [][]byte{{1}}, Size: 1}), ErrOver)
		w.run(w.now+time.Minute, func() bool { return here.down != nil && there.down != nil })
		require.Equal(t, 101, there.received)
		require.Equal(t, io.EOF, here.down)
		require.Equal(t, io.EOF, there.down)
		require.Zero(t, here.n.Len()+there.n.Len()+len(here.n.byPeer)+len(there.n.byPeer))
	}
}

func portOf(a netip.AddrPort, port uint16) netip.AddrPort { return netip.AddrPortFrom(a.Addr(), port) }

func netipAt(host int) netip.AddrPort { return netip.AddrPortFrom(address(0, host), udpPort) }

func netipPort(p path, u *user) netip.AddrPort { return netip.AddrPortFrom(p.Local, u.n.port) }
