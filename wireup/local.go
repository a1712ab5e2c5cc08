package wireup

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/reach"
)

// MostSpares is how many pairs of addresses that were not chosen are kept, in case none of the
// chosen ones works.
const MostSpares = 8

// believed is how long the kernel's answers about routes and carriers are used again. Many peers
// are met within moments of each other, and asking costs microseconds for each pair of addresses.
const believed = 2 * time.Second

// A Local is the addresses of this process that one module uses, and which of them lead to
// its peers.
type Local struct {
	// Address is what the module publishes. Before [Base.Publish] its Interfaces are those
	// that the user has chosen, and each is to be listened on. An address that several interfaces have
	// is there once; the others are published with it.
	Address
	// Settings are what the parameters say.
	Settings *Settings

	name   string
	host   btl.Host
	system reach.Side
	twins  []reach.Address // further interfaces with an address that is listened on
	side   reach.Side      // what is published, as it is now, and what this host holds besides
	routes *reach.Memory   // the policy, and what it has found out
	asked  int64           // when the kernel was last asked anew; 0: it is to be
}

// openLocal reads the parameters and chooses among the addresses of the system. Name is the
// transport's. Where the system shows no address, or lets none be used, the error is a [*btl.UnavailableError].
func openLocal(host btl.Host, name string) (*Local, error) {
	s, err := readSettings(host.Params(), "btl_"+name+"_", func(err error) { host.Logf(btl.LogWarn, "%s: rank %d: %v", name, host.Rank(), err) })
	if err != nil {
		return nil, err
	}
	system, err := reach.System()
	if err != nil {
		return nil, unavailable(name, err)
	}
	if len(system.Addresses) == 0 {
		return nil, &btl.UnavailableError{Component: name, Reason: "no network interface is up, not even the loopback",
			Remedy: "ip link set lo up"}
	}
	chosen, err := s.Choice.Select(system.Addresses)
	if err != nil {
		return nil, err
	}
	if host.Size() > 1 { // else nobody is there to connect to us
		chosen, err = usable(chosen, func(a reach.Address, err error) {
			host.Logf(btl.LogWarn, "%s: rank %d: not using %v: %v", name, host.Rank(), a, err)
		})
		if err != nil {
			return nil, unavailable(name, err)
		}
	}
	return NewLocal(host, name, s, system, chosen), nil
}

// usable returns the addresses that can be listened on now, and tells without of each other one:
// an IPv6 address that is still being checked for duplicates, for example. If none can be listened
// on, the error says why the last one can not. That UDP has no port left says nothing of an address.
func usable(addrs []reach.Address, without func(reach.Address, error)) (good []reach.Address, last error) {
	if !rawio.Supported {
		return addrs, nil
	}
	for _, a := range addrs {
		fd, err := rawio.Datagrams(netip.AddrPortFrom(Zoned(a), 0), 0, 0)
		switch {
		case err == nil:
			rawio.Close(fd)
		case !errors.Is(err, syscall.EADDRINUSE):
			last = fmt.Errorf("listening on %v: %w", a, err)
			without(a, err)
			continue
		}
		good = append(good, a)
	}
	if len(good) > 0 {
		last = nil
	}
	return good, last
}

// NewLocal is for a caller that has chosen among the addresses of a system itself.
func NewLocal(host btl.Host, name string, s *Settings, system reach.Side, chosen []reach.Address) *Local {
	once, twins := apart(chosen)
	return &Local{
		Address:  Address{Network: system.Network, Host: host.Hostname(), Interfaces: once},
		Settings: s, name: name, host: host, system: system, twins: twins, routes: reach.Remember(s.Policy),
	}
}

// apart tells the addresses that differ from those of further interfaces that have the same one: the near ends of
// several lines, for example. One socket hears for all of them. By which of the interfaces the peers are reached the
// routes tell.
func apart(addrs []reach.Address) (once, twins []reach.Address) {
	for _, a := range addrs {
		if isListed(once, a) {
			twins = append(twins, a)
		} else {
			once = append(once, a)
		}
	}
	return once, twins
}

// isListed reports whether an address, of whichever interface, is among those.
func isListed(addrs []reach.Address, a reach.Address) bool {
	return slices.ContainsFunc(addrs, func(other reach.Address) bool { return Zoned(other) == Zoned(a) })
}

// withTwins adds those interfaces that have the same addresses, each behind what there is of it.
func (l *Local) withTwins(used []reach.Address) []reach.Address {
	all := slices.Clone(used)
	for _, twin := range l.twins {
		if !isListed(used, twin) || slices.Contains(used, twin) {
			continue
		}
		at := len(all)
		for i, a := range all {
			if sameInterface(a, twin) {
				at = i + 1
			}
		}
		all = slices.Insert(all, at, twin)
	}
	return all
}

// publish says at which port of which addresses the module listens, and returns the bytes
// that tell the peers so.
func (l *Local) publish(port uint16, used []reach.Address) []byte {
	l.Port, l.Interfaces = port, l.withTwins(used)
	l.side = l.Side()
	l.side.Held = slices.Clone(l.system.Held)
	for _, a := range l.system.Addresses {
		if !l.Holds(a.Addr()) {
			l.side.Held = append(l.side.Held, a.Addr())
		}
	}
	return l.Encode()
}

// meant reports whether the address and port that a peer means to reach are ours.
func (l *Local) meant(target netip.AddrPort) bool {
	return target.Port() == l.Port && l.Holds(target.Addr())
}

// Nearby reports whether an address leads to this very machine. One with a zone, which is the name or the number of an interface, does so
// by that interface alone.
func (l *Local) Nearby(ip netip.Addr) bool {
	zone := ip.Zone()
	return ip.IsLoopback() || slices.ContainsFunc(l.Interfaces, func(a reach.Address) bool {
		return a.Addr() == ip.WithZone("") && (zone == "" || zone == a.Interface || zone == strconv.Itoa(a.Index))
	})
}

// Speed is that of the fastest interface in Mbit/s, or otherwise if no interface states its own.
func (l *Local) Speed(otherwise int) int {
	speed := 0
	for _, a := range l.Interfaces {
		speed = max(speed, a.Speed)
	}
	return cmp.Or(speed, otherwise)
}

// Find returns what is known of one of our addresses.
func (l *Local) Find(ip netip.Addr) (reach.Address, bool) {
	ip = ip.WithZone("")
	at := slices.IndexFunc(l.side.Addresses, func(a reach.Address) bool { return a.Addr() == ip })
	if at < 0 {
		return reach.Address{}, false
	}
	return l.side.Addresses[at], true
}

// A Pair is a way to a peer, from one of our addresses to one of its.
type Pair struct {
	reach.Pair
	Port uint16 // of the peer
	// Link is the number of this connection, from 0, among the Links parallel ones of the
	// pair. A Links of 0 means 1.
	Link, Links int
}

// Target is where to connect to: the peer's address, with our interface where it needs one.
func (p Pair) Target() netip.AddrPort { return netip.AddrPortFrom(p.Pair.Target(), p.Port) }

// Addresses implements [Way].
func (p Pair) Addresses() (local, remote string) { return p.Local.String(), p.Target().String() }

// String returns "10.8.47.1 (eth0) → 10.8.47.2:59822".
func (p Pair) String() string { return fmt.Sprintf("%v → %v", p.Local, p.Target()) }

// Describe implements [Way]: it adds why the pair was chosen, and which link this is.
func (p Pair) Describe() string {
	if p.Links > 1 {
		return p.DescribeWith(fmt.Sprintf(", link %d of %d", p.Link+1, p.Links))
	}
	return p.DescribeWith("")
}

// DescribeWith is String with the weight, the reason and what else there is to say: ", 2 more".
func (p Pair) DescribeWith(more string) string {
	return fmt.Sprintf("%v (weight %s, %s%s)", p, reach.FormatWeight(p.Weight), p.Why, more)
}

// Pairs lists the ways to a peer: those that serve, and the spare ones, each the best first.
//
// Both sides make such a list, and the i-th pair of one should be the i-th pair of the other. So
// both order pairs of equal weight by the addresses of the lower rank. If the lists differ all the
// same, the side that connects is right.
func (l *Local) Pairs(rank int, remote *Address) (pairs, spares []Pair, err error) {
	fresh := l.refresh()
	result := reach.Match(l.side, remote.Side(), l.routes)
	if (len(result.Pairs) == 0 || fresh && l.lacks(result)) && l.follow() {
		result = reach.Match(l.side, remote.Side(), l.routes)
	}
	if len(result.Pairs) == 0 {
		return nil, nil, noPair(result, l.Settings.Policy.Name(), l.Settings.Prefix)
	}
	lower := func(p reach.Pair) netip.Addr { return p.Local.Addr() }
	if rank < l.host.Rank() {
		lower = func(p reach.Pair) netip.Addr { return p.Remote.Addr() }
	}
	list := func(all []reach.Pair) (sorted []Pair) {
		slices.SortStableFunc(all, func(a, b reach.Pair) int {
			return cmp.Or(cmp.Compare(b.Weight, a.Weight), lower(a).Compare(lower(b)),
				a.Local.Addr().Compare(b.Local.Addr()), a.Remote.Addr().Compare(b.Remote.Addr()))
		})
		for _, p := range all {
			sorted = append(sorted, Pair{Pair: p, Port: remote.Port})
		}
		return sorted
	}
	spares = list(result.Spares())
	return list(result.Pairs), spares[:min(len(spares), MostSpares)], nil
}

// Doubt has the kernel asked again when the next peer is met. It is called when a way that was
// thought to work did not.
func (l *Local) Doubt() { l.asked = 0 }

// lacks reports whether one of our interfaces leads to a peer by none of its addresses. It may have been made anew: the routes lead by the new one then.
func (l *Local) lacks(r reach.Result) bool {
	leads := make(map[int]bool) // by index
	for _, pairs := range [][]reach.Pair{r.Pairs, r.Rejected} {
		for _, p := range pairs {
			leads[p.Local.Index] = leads[p.Local.Index] || p.Quality > 0
		}
	}
	return slices.ContainsFunc(l.side.Addresses, func(a reach.Address) bool {
		return a.Flags&(reach.Loopback|reach.NoCarrier) == 0 && !leads[a.Index]
	})
}

// follow finds the interfaces to which our addresses have moved, or what has taken the place of an address, and reports whether one has. An
// interface that was made anew, as by a driver that is loaded again, is another one.
func (l *Local) follow() (moved bool) {
	system, err := reach.System()
	return err == nil && l.followIn(&system)
}

// Successor is the address that has taken the place of one of ours that this host no longer has: in the same subnet on the same interface,
// as after the renewal of a lease. There may be none. Peers do not know of it, but can be connected to from there.
func (l *Local) Successor(gone reach.Address) (now reach.Address, ok bool) {
	system, err := reach.System()
	if err != nil || isListed(system.Addresses, gone) {
		return now, false
	}
	at := successor(system.Addresses, gone)
	if at < 0 {
		return now, false
	}
	return system.Addresses[at], true
}

func successor(now []reach.Address, gone reach.Address) int {
	return slices.IndexFunc(now, func(a reach.Address) bool {
		return (a.Index == gone.Index || a.Interface == gone.Interface) && a.Prefix.Masked() == gone.Prefix.Masked()
	})
}

// followIn is follow among the interfaces that there are now. What was given out of our addresses stays as it was.
func (l *Local) followIn(system *reach.Side) (moved bool) {
	l.side.Addresses = slices.Clone(l.side.Addresses)
	for i, a := range l.side.Addresses {
		same := func(s reach.Address) bool { return Zoned(s) == Zoned(a) }
		at := slices.IndexFunc(system.Addresses, same)
		if at < 0 {
			at = successor(system.Addresses, a)
		}
		if at < 0 || slices.ContainsFunc(system.Addresses, func(s reach.Address) bool { return same(s) && s.Index == a.Index }) ||
			!same(system.Addresses[at]) && isListed(l.side.Addresses, system.Addresses[at]) {
			continue
		}
		l.side.Addresses[i], moved = system.Addresses[at], true
		l.host.Logf(btl.LogInfo, "%s: rank %d: %v has moved: it is %v now", l.name, l.host.Rank(), a, system.Addresses[at])
	}
	if moved {
		l.routes.Forget() // they lead by the old one
	}
	return moved
}

// refresh forgets the routes that are too old to be believed, and looks whether an interface
// that had no carrier has one now. It reports whether they were too old.
func (l *Local) refresh() bool {
	now := l.host.Loop().Now()
	if l.asked != 0 && now-l.asked < int64(believed) {
		return false
	}
	l.asked = max(now, 1)
	l.routes.Forget()
	bare := func(a reach.Address) bool { return a.Flags&reach.NoCarrier != 0 }
	if !slices.ContainsFunc(l.side.Addresses, bare) {
		return true // an interface that has lost its carrier since shows by failing connections
	}
	system, err := reach.System()
	if err != nil {
		return true // what was so at the start has to do
	}
	l.followIn(&system)
	for i := range l.side.Addresses {
		a := &l.side.Addresses[i]
		at := slices.IndexFunc(system.Addresses, func(s reach.Address) bool { return s.Addr() == a.Addr() && s.Index == a.Index })
		if !bare(*a) || at < 0 || bare(system.Addresses[at]) {
			continue
		}
		a.Flags, a.Speed = system.Addresses[at].Flags, system.Addresses[at].Speed
		l.host.Logf(btl.LogInfo, "%s: rank %d: %v has a carrier now", l.name, l.host.Rank(), a)
	}
	return true
}
