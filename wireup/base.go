package wireup

import (
	"cmp"
	"fmt"
	"net/netip"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/reach"
)

// A Base is what the modules of all transports over IP have in common. A transport's module
// embeds it, opens it ([Base.Open]) and adds what it does with sockets: Dial, NewEndpoint,
// Close. It then implements the rest of [btl.Module] and [Transport]; a module has methods of
// its own in the place of those that do not fit it.
type Base struct {
	// Host is the process that the module runs in.
	Host btl.Host
	// Local is the addresses that the module uses.
	Local *Local
	// Wire sets up its connections.
	Wire *Manager
	// Attrs is what Attr returns. Its Bandwidth and Latency are those of a path of which
	// nothing better is known.
	Attrs btl.Attr
	// Near is the latency of a path within this machine; 0 means that of any other path.
	Near time.Duration
	// Links is how many parallel connections there are for each pair of addresses; 0 means 1.
	Links int
	// Expedites says that there is a connection for urgent frames beside the others
	// ([btl.Expediter]). Set it before the first call of Reach.
	Expedites bool

	address []byte // what is published
}

// Open reads the parameters that begin with "btl_", the transport's name and "_"
// ([AllParameters]), and chooses among the addresses of the system. T is the module that embeds the
// Base. C says how connections are set up; Open fills in the name and what the parameters say. The
// module has no address to publish before the call of [Base.Publish].
func (b *Base) Open(host btl.Host, name string, t Transport, c Config) error {
	local, err := openLocal(host, name)
	if err == nil {
		b.Use(host, local, t, c)
	}
	return err
}

// Use is Open for a caller that has chosen the addresses itself.
func (b *Base) Use(host btl.Host, local *Local, t Transport, c Config) {
	s := local.Settings
	c.Name, c.Prefix, c.Doubt = local.name, s.Prefix, local.Doubt
	c.Retries, c.ConnectTimeout, c.HandshakeTimeout = s.Retries, s.ConnectTimeout, s.HandshakeTimeout
	b.Host, b.Local, b.Wire = host, local, NewManager(host, t, c)
}

// Publish says at which port of which addresses the module listens. The bytes of before are the
// transport's own; they precede the address in what is published.
func (b *Base) Publish(before []byte, port uint16, used []reach.Address) {
	b.address = append(before, b.Local.publish(port, used)...)
}

// Attr implements [btl.Module].
func (b *Base) Attr() btl.Attr { return b.Attrs }

// Address implements [btl.Module].
func (b *Base) Address() []byte { return b.address }

// Progress implements [btl.Module]: descriptors announce all work, or it is posted.
func (b *Base) Progress() bool { return false }

// Connect implements [btl.Module].
func (b *Base) Connect(peer btl.Peer, path btl.Path, recv btl.Receiver) (btl.Endpoint, error) {
	return b.Wire.Connect(peer, path, recv)
}

// Holds implements [Transport].
func (b *Base) Holds(target netip.AddrPort) bool { return b.Local.meant(target) }

// Linger implements [Transport] for connections that leave by themselves.
func (b *Base) Linger() {}

// Reach implements [btl.Module]. It returns a path for each link of each pair of addresses, the
// best first, and then the spare paths.
//
// Path i of one side meets path i of the other, and the peer's list may be of another length. So
// the spare paths are numbered from the end: there they meet spare paths only.
func (b *Base) Reach(peer btl.Peer) ([]btl.Path, error) {
	if err := b.IsOther(peer); err != nil {
		return nil, err
	}
	remote, err := Decode(peer.Address)
	if err != nil {
		return nil, b.Unreachable(peer, err)
	}
	pairs, spares, err := b.Local.Pairs(peer.Rank, remote)
	if err != nil {
		return nil, b.Unreachable(peer, err)
	}
	most, links := b.Wire.Paths, max(b.Links, 1)
	if most > MostSpares {
		most -= MostSpares
	} else {
		spares = nil
	}
	if b.Expedites {
		most--
	}
	var paths []btl.Path
	for _, p := range pairs {
		for p.Link, p.Links = 0, links; p.Link < links && len(paths) < most; p.Link++ {
			paths = append(paths, b.Path(p, len(paths)))
		}
	}
	for i, p := range spares {
		paths = append(paths, b.Path(p, b.spareIndex(i)))
	}
	return paths, nil
}

// Express implements [btl.Expediter], for a module that expedites: the path for urgent frames joins
// the same addresses as the given one.
func (b *Base) Express(beside btl.Path) (btl.Path, bool) {
	p, is := beside.Private.(Pair)
	if !is || !b.Expedites {
		return btl.Path{}, false
	}
	p.Link, p.Links = 0, 1
	return b.Path(p, b.urgentIndex()), true
}

// IsOther is an error if the peer is this very process.
func (b *Base) IsOther(peer btl.Peer) error {
	if peer.Rank == b.Host.Rank() {
		return fmt.Errorf("%s: rank %d is this process, which btl self serves", b.Wire.Name, peer.Rank)
	}
	return nil
}

// Unreachable adds to an error of Reach which peer it is about.
func (b *Base) Unreachable(peer btl.Peer, err error) error {
	return fmt.Errorf("%s: rank %d on %s: %w", b.Wire.Name, peer.Rank, peer.Host, err)
}

// Path is what the host learns of a pair.
func (b *Base) Path(p Pair, index int) btl.Path {
	path := b.path(index, p.Speed, max(p.Links, 1), b.Nearby(p))
	path.Weight, path.Desc, path.Private = p.Weight/float64(max(p.Links, 1)), p.Describe(), p
	if path.Spare != btl.NotSpare && p.Parallel {
		path.Spare = btl.Parallel
	}
	return path
}

// Accepted is what the host learns of a connection that the peer has made. Only the speed of our
// own interface is known; it is 0 if the interface does not state it. The peer is taken to make as
// many links for a pair as we do.
func (b *Base) Accepted(c *Conn, speed int, nearby bool) btl.Path {
	path := b.path(c.PathIndex(), speed, max(b.Links, 1), nearby)
	path.Desc = c.Desc()
	return path
}

// path is what [Base.Path] and [Base.Accepted] have in common. The links of a pair share its
// interfaces, so each gets its part of the bandwidth.
func (b *Base) path(index, speed, links int, nearby bool) btl.Path {
	path := btl.Path{Index: index, Bandwidth: max(cmp.Or(speed, b.Attrs.Bandwidth)/links, 1), Latency: b.Attrs.Latency}
	if nearby {
		path.Latency = cmp.Or(b.Near, path.Latency)
	}
	switch {
	case b.Expedites && index == b.urgentIndex():
		path.Urgent = true
	case b.isSpare(index):
		path.Spare = btl.Detour
	case b.Links > 1:
		path.Bundle = index/b.Links + 1
	}
	return path
}

// Nearby reports whether a pair leads to this very machine.
func (b *Base) Nearby(p Pair) bool { return p.Loopback || b.Local.Nearby(p.Target().Addr()) }

// spareIndex is the number of the i-th spare path.
func (b *Base) spareIndex(i int) int { return b.Wire.Paths - 1 - i }

// urgentIndex is the number of the path for urgent frames, the last before the spare ones.
func (b *Base) urgentIndex() int {
	if b.Wire.Paths > MostSpares {
		return b.Wire.Paths - MostSpares - 1
	}
	return b.Wire.Paths - 1
}

// isSpare reports whether a path of this number is a spare one.
func (b *Base) isSpare(index int) bool {
	return b.Wire.Paths > MostSpares && index >= b.Wire.Paths-MostSpares
}
