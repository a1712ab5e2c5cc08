package sctp

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/strandmp/strand/internal/recovery"
	"github.com/strandmp/strand/internal/sctp/stream"
)

// A Config says what the associations of an [Endpoint] are like. What is 0 has its default.
type Config struct {
	// Port is SCTP's.
	Port uint16
	// Addresses are ours, which peers are told if there are several.
	Addresses []netip.Addr
	// Streams is how many are asked for, and taken, in either direction: 10.
	Streams int
	// Window bounds, in bytes, what is held of a peer because something before it is missing: 1 MB.
	Window int
	// Outstanding bounds, in bytes, what is under way to a peer; 0: its window does.
	Outstanding int
	// RTOInitial and RTOMax are those of RFC 9260, section 16: 1 s, 1 minute. If RTOInitial is 0, what begins an association is sent
	// again sooner at first: after 50 ms, and then twice as long each time. RTOMin is how long an answer to
	// data is waited for at the least. If it is 0, a lost answer is asked for sooner, but counts as an error
	// at most once a second.
	RTOInitial, RTOMin, RTOMax time.Duration
	// Heartbeat is the time between two on a path without data: 30 s.
	Heartbeat time.Duration
	// PathMaxRetrans, AssocMaxRetrans and InitMaxRetrans are how many errors in a row a path, and an
	// association, is given, and how often INIT and COOKIE ECHO are sent again: 5, 10, 8.
	// Each path of an association is given as many as the association is.
	PathMaxRetrans, AssocMaxRetrans, InitMaxRetrans int
	// CookieLife is for how long a cookie is good: 1 minute.
	CookieLife time.Duration
	// Held is for how long an acknowledgement is held back: 200 ms. Peers are told of anything else, in whole
	// milliseconds.
	Held time.Duration
	// PeerHeld is for how long a peer may hold its own back that does not tell: 200 ms. Any peer is given so long
	// for other answers, and before a single packet without an answer counts as an error.
	PeerHeld time.Duration
	// Autoclose is after how long without data an association whose peer is trusted is shut down; 0: never.
	Autoclose time.Duration
	// Interleave offers I-DATA.
	Interleave bool
	// ZeroChecksum offers to take packets without a checksum, and to send such to peers that offer the same
	// (RFC 9653): the number of the method that finds errors instead. 0: not offered.
	ZeroChecksum uint32
	// Joined takes packets that are longer than any on their path without a checksum. Linux joins packets and
	// leaves it to the network card to cut them, and to compute their checksums (GSO). Between two network
	// namespaces of a machine there is no card, and nobody else does that for SCTP in UDP.
	Joined bool
	// Scheduler and Places say which stream's data goes next: see [stream.Sending].
	Scheduler string
	Places    []uint16
	// Multipath sends new data over all paths at once.
	Multipath bool
	// Delay has a short message wait for acknowledgements of earlier ones (Nagle).
	Delay bool
	// Control makes the congestion control of a path: that of RFC 9260, section 7.2.
	Control func(packet int) recovery.Controller
	// Pool is where the memory comes from for what is held; nil: each association has its own.
	Pool *stream.Pool

	// Accept makes a peer's association known, which has come up, and returns who it belongs to. Nil refuses it.
	Accept func(*Association) Owner
	// Room reports whether an association with somebody there can be accepted now. If not, the peer's cookie
	// is dropped without a word, and the peer sends it again. Nil: there is.
	Room func(from netip.AddrPort) bool
	// Local returns the path to a further address of a peer whose INIT has come to one of ours; false: there
	// is none. Nil: from that one of ours.
	Local func(remote netip.AddrPort, arrived netip.Addr) (Pair, bool)
	// Random returns random bits that nobody can guess.
	Random func() uint64

	quick int64 // after how long what begins an association is sent again first; 0: RTOInitial
}

// A Pair is one of our addresses and one of the peer's, with the port of UDP's that it has there.
type Pair struct {
	Local  netip.Addr
	Remote netip.AddrPort
	// Base and Most are the longest packets of SCTP that every network should carry, and that are worth a try: 1200,
	// and Base.
	Base, Most int
	// Narrow says that those of Base have come to be too long before: packets are as short as any at first, and longer ones are tried soon.
	Narrow bool
}

const (
	defaultStreams   = 10
	defaultWindow    = 1 << 20
	defaultRTO       = time.Second
	firstRepeat      = 50 * time.Millisecond
	defaultRTOMax    = time.Minute
	defaultHeartbeat = 30 * time.Second
	defaultHeld      = 200 * time.Millisecond
	mostHeld         = 255 * time.Millisecond // as peers are told; RFC 9260, section 6.2, allows 500
	defaultBase      = 1200
	// leastWindow is what nobody may announce less than (section 3.3.2).
	leastWindow = 1500
	// strangerWindow bounds what is held of a peer that nobody trusts yet.
	strangerWindow = 16 << 10
	// leastPacket is the shortest packet that a path must carry: RFC 9260 asks for 512 of IPv4.
	leastPacket = 256
	// leastTried is what packets with data are that have got stuck on a path at the length that every network should carry.
	leastTried = 512
)

func orElse[T comparable](v *T, standard T) {
	var none T
	if *v == none {
		*v = standard
	}
}

// complete sets defaults, and checks the rest.
func (c *Config) complete() error {
	orElse(&c.Streams, defaultStreams)
	orElse(&c.Window, defaultWindow)
	if c.RTOInitial == 0 {
		c.quick = int64(firstRepeat)
	}
	orElse(&c.RTOInitial, defaultRTO)
	orElse(&c.RTOMax, defaultRTOMax)
	orElse(&c.Heartbeat, defaultHeartbeat)
	orElse(&c.PathMaxRetrans, 5)
	orElse(&c.AssocMaxRetrans, 10)
	orElse(&c.InitMaxRetrans, 8)
	orElse(&c.CookieLife, time.Minute)
	orElse(&c.Held, defaultHeld)
	if c.Held < time.Millisecond || c.Held > mostHeld || c.Held%time.Millisecond != 0 {
		return fmt.Errorf("sctp: acknowledgements held back for %v: it can be 1 to 255 whole ms", c.Held)
	}
	orElse(&c.PeerHeld, defaultHeld)
	if c.Control == nil {
		c.Control = func(packet int) recovery.Controller { return recovery.NewReno(packet) }
	}
	if c.Room == nil {
		c.Room = func(netip.AddrPort) bool { return true }
	}
	if c.Local == nil {
		c.Local = func(remote netip.AddrPort, arrived netip.Addr) (Pair, bool) {
			return Pair{Local: arrived, Remote: remote}, true
		}
	}
	switch {
	case c.Random == nil:
		return errors.New("sctp: there is nothing to make tags of")
	case c.Streams < 1 || c.Streams > 1<<16-1:
		return fmt.Errorf("sctp: %d streams: there can be 1 to 65535", c.Streams)
	case c.Window < leastWindow || uint64(c.Window) > 1<<31:
		return fmt.Errorf("sctp: a window of %d bytes: it can have 1500 to 2 GB", c.Window)
	}
	_, err := stream.NewOutgoing(c.sending(c.Streams, c.Interleave))
	return err
}

func (c *Config) sending(streams int, interleave bool) stream.Sending {
	return stream.Sending{Streams: streams, Interleave: interleave, Scheduler: c.Scheduler, Places: c.Places}
}

// pace is how soon after an error another one on the same path counts.
func (c *Config) pace() int64 {
	if c.RTOMin > 0 {
		return int64(c.RTOMin)
	}
	return int64(defaultRTO)
}

// complete sets a pair's defaults.
func (p *Pair) complete() {
	orElse(&p.Base, defaultBase)
	p.Base = max(p.Base, leastPacket) &^ 3
	p.Most = max(p.Most, p.Base) &^ 3
}

// least is how long packets are on a path that does not even carry those of Base. What is known to carry more does so.
func (p *Pair) least() int {
	if p.Base > defaultBase {
		return p.Base
	}
	return min(p.Base, leastTried)
}
