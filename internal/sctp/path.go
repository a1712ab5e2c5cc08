package sctp

import (
	"math"
	"net/netip"

	"github.com/strandmp/strand/internal/recovery"
	"github.com/strandmp/strand/internal/sctp/chunk"
	"github.com/strandmp/strand/internal/sctp/transfer"
)

// A PathState is a path's (RFC 9260, section 8.2; RFC 7829).
type PathState uint8

// The states of a path.
const (
	// Unconfirmed: nobody has shown yet that the peer is there (section 5.4). No data goes there.
	Unconfirmed PathState = iota
	// Active: data goes there.
	Active
	// Suspect: the last answer was late. Data goes there only if no path is active.
	Suspect
	// Down: too many answers in a row did not come. Heartbeats find out when it is good again.
	Down
)

var pathStateNames = [...]string{"unconfirmed", "active", "suspect", "down"}

func (s PathState) String() string { return pathStateNames[s] }

// Up reports whether a path can carry data.
func (s PathState) Up() bool { return s == Active || s == Suspect }

// A path is one of an association's.
type path struct {
	Pair
	state   PathState
	since   int64
	greeted int64 // when our INIT went there first
	mtu     recovery.MTU
	cut     bool  // the system does not take packets of the shortest length
	errors  int   // in a row
	counted int64 // when the last of them was
	seen    int   // errors that the sender had when it was last asked
	used    int64 // when data was last sent

	answers  uint64 // to data over it, when the sender was last asked
	arrivals uint64 // packets with data that had arrived when the sender was last asked
	stuck    int    // errors since then: heartbeats may get through where data does not
	futile   int    // times that data was not answered over it, since any was anywhere,
	futileAt int64  // and the last of them

	vain   int      // times that a jammed chunk was sent there
	beat   question // a heartbeat
	beatAt int64    // when the next one is due; 0: not
	missed int      // heartbeats in a row that were not answered
	sound  question // a heartbeat that finds out how long packets may be
	moved  question // a heartbeat to the same address at another port,
	to     netip.AddrPort

	// What is to be sent there.
	cookieAck bool
	answer    []byte // HEARTBEAT ACKs,
	answerTo  netip.AddrPort
	report    []byte // causes for an ERROR
}

// packet is how long packets may be: those of SCTP are multiples of four.
func (p *path) packet() int { return p.mtu.Size() &^ 3 }

// wants reports whether there is something to be sent over the path beside data.
func (p *path) wants() bool { return p.speaks() || p.sound.due || p.moved.due }

// speaks reports whether some of that may go together with data.
func (p *path) speaks() bool {
	return p.cookieAck || len(p.answer) > 0 || p.beat.due || len(p.report) > 0
}

// addPath adds a path on which nothing has come yet. It is not added if there is one like it.
func (a *Association) addPath(now int64, pair Pair) {
	for i := range a.paths {
		if a.paths[i].Local == pair.Local && a.paths[i].Remote == pair.Remote {
			return
		}
	}
	pair.complete()
	mtu := recovery.NewMTU(pair.least(), pair.Base, pair.Most)
	if pair.Narrow {
		mtu.Shrunk()
	}
	a.paths = append(a.paths, path{Pair: pair, since: now, mtu: mtu})
}

// further takes a further address of the peer's, at the same port of UDP's as the one known (RFC 6951,
// section 5.1).
func (a *Association) further(now int64, addr netip.Addr, port uint16, arrived netip.Addr) {
	a.others.add(addr)
	if addr.IsLinkLocalUnicast() {
		addr = addr.WithZone(arrived.Zone())
	}
	remote := netip.AddrPortFrom(addr, port)
	if reachOf(addr) < reachOf(arrived) {
		return // it would be another one's here: one of this machine's services, say
	}
	for i := range a.paths {
		if a.paths[i].Remote == remote {
			return
		}
	}
	if other := a.e.byPeer[peer{remote, a.port}]; other != nil && other != a || len(a.paths) >= mostAddresses {
		return
	}
	if p, ok := a.e.config.Local(remote, arrived); ok {
		p.Remote = remote
		a.addPath(now, p)
	}
}

// reachOf is how far an address is the same one's: on its machine, on its network, or anywhere.
func reachOf(a netip.Addr) int {
	switch {
	case a.IsLoopback():
		return 0
	case a.IsLinkLocalUnicast():
		return 1
	}
	return 2
}

// knows reports whether an address is one of the peer's.
func (a *Association) knows(addr netip.Addr) bool {
	for _, known := range a.others.all() {
		if known == addr {
			return true
		}
	}
	for i := range a.paths {
		if a.paths[i].Remote.Addr() == addr {
			return true
		}
	}
	return false
}

// pathOf is the path over which a packet has come. One whose port of UDP's has changed is still that path.
func (a *Association) pathOf(in *incoming) (i int, ok bool) {
	best := 0
	for j := range a.paths {
		p := &a.paths[j]
		if p.Remote.Addr() != in.from.Addr() {
			continue
		}
		rank := 1
		if p.Remote == in.from {
			rank = 2
			if p.Local == in.local {
				return j, true
			}
		}
		if rank > best {
			i, best = j, rank
		}
	}
	return i, best > 0
}

func (p *path) confirm(now int64) {
	if p.state == Unconfirmed {
		p.state, p.since = Active, now
	}
}

// open begins to use a path, as the association is established.
func (a *Association) open(now int64, i int) {
	p := &a.paths[i]
	c := &a.e.config
	size := p.packet()
	least := c.RTOMin
	a.sender.AddPath(recovery.Config{
		Packet: size, Guess: c.RTOInitial / 2, LeastProbe: least, MostProbe: c.RTOMax, Held: a.peerHeld, Least: p.least(),
	}, c.Control(size))
	p.used = now
	if p.state == Unconfirmed {
		a.sender.SetState(now, i, transfer.Unconfirmed)
		p.beat.due = true
		return
	}
	p.beatAt = a.nextBeat(now, i)
	a.sounds(now, i)
}

// sounds has the length of packets found out.
func (a *Association) sounds(now int64, i int) {
	p := &a.paths[i]
	if p.state != Active || p.sound.due || p.sound.number != 0 {
		return
	}
	if size := p.mtu.Sound(now); size > 0 {
		p.sound.due, p.sound.size = true, size
	}
}

// follow has a path lead to another port, at which the peer has shown to be.
func (a *Association) follow(i int) {
	p := &a.paths[i]
	p.moved = question{}
	if a.e.byPeer[peer{p.to, a.port}] != nil {
		return
	}
	a.e.release(a, p.Remote)
	p.Remote = p.to
	a.e.register(a)
}

// tried notes from where a packet of the peer's has come over a path.
func (p *path) tried(from netip.AddrPort) {
	if p.Remote != from && !p.moved.due && p.moved.number == 0 {
		p.moved.due, p.to = true, from
	}
}

// good notes that something has been answered that went over a path.
func (a *Association) good(now int64, i int) {
	p := &a.paths[i]
	p.errors, p.counted = 0, 0
	if p.state != Active {
		if p.state != Suspect {
			p.beatAt = a.nextBeat(now, i)
		}
		a.setState(now, i, Active)
		a.sounds(now, i)
	}
}

// bad notes that something has not been answered that went over a path.
func (a *Association) bad(now int64, i int) {
	p := &a.paths[i]
	if p.counted != 0 && now-p.counted < a.e.config.pace() {
		return
	}
	p.counted = max(now, 1)
	p.errors++
	switch {
	case a.unheard(now):
		a.end(ErrNoAnswer)
	case p.errors > a.e.config.PathMaxRetrans:
		a.setState(now, i, Down)
	case p.state == Active:
		a.setState(now, i, Suspect)
	}
}

// unheard reports whether nobody answers any more: each path would have ended an association that has no other one. RFC 9260, section 8.1, counts what all
// paths have failed in together, and so dead ones could end an association while a bad one carries all. Where heartbeats get through, and data does not, it is
// given as long as a shutdown is.
func (a *Association) unheard(now int64) bool {
	c := &a.e.config
	barren := now-a.fruitAt > guardFactor*int64(c.RTOMax)
	for i := range a.paths {
		p := &a.paths[i]
		if p.state != Unconfirmed && p.errors <= c.AssocMaxRetrans && (!barren || p.futile <= c.AssocMaxRetrans) {
			return false
		}
	}
	return true
}

// another reports whether there is another active path. Without one nothing is gained by calling lost what is under
// way over this one.
func (a *Association) another(i int) bool {
	for j := range a.paths {
		if j != i && a.paths[j].state == Active {
			return true
		}
	}
	return false
}

func (a *Association) setState(now int64, i int, s PathState) {
	p := &a.paths[i]
	if p.state == s {
		return
	}
	was := p.state
	p.state, p.since = s, now
	switch {
	case s == Active:
		a.sender.SetState(now, i, transfer.Active)
		p.seen = 0
		a.leave(now)
		if a.strayed && i == a.sackPath {
			a.strayed = false
			a.receiver.Repeat(now)
		}
	case s == Down && was == Unconfirmed: // it carries no data, as before
	case s == Down:
		a.sender.SetState(now, i, transfer.Down)
	case a.sender.State(i) == transfer.Active && a.another(i):
		a.sender.SetState(now, i, transfer.Suspect)
	}
	if s == Suspect && p.beat.number == 0 {
		p.beat.due = true
	}
	if was.Up() != s.Up() {
		a.owner.PathChanged(i)
	}
}

// leave has data go no more over paths whose last answer was late, as it did while no other was active.
func (a *Association) leave(now int64) {
	for i := range a.paths {
		if a.paths[i].state == Suspect && a.sender.State(i) == transfer.Active && a.another(i) {
			a.sender.SetState(now, i, transfer.Suspect)
		}
	}
}

// watch looks what the sender has found out about paths.
func (a *Association) watch(now int64) {
	if a.sender == nil {
		return
	}
	if full := a.sender.Full; full != a.full || a.sender.Outstanding() == 0 {
		a.full = full
		a.fruitful(now)
	}
	for i := 0; i < len(a.paths) && a.state != Closed; i++ {
		p := &a.paths[i]
		if n := a.sender.Path(i).Arrivals; n != p.arrivals {
			p.arrivals, p.stuck = n, 0
			a.fruitful(now)
		}
		errors, answers := a.sender.Errors(i), a.sender.Answers(i)
		switch {
		case errors < p.seen, answers != p.answers && p.state != Unconfirmed: // heartbeats count errors as well (RFC 9260, section 8.2)
			p.seen, p.answers = errors, answers
			a.good(now, i)
		case errors > p.seen:
			p.seen = errors
			p.stuck++
			a.shorter(i)
			a.bad(now, i)
			a.seek(now, i)
			if !a.another(i) {
				a.askAgain(now, i) // an answer has the next probe come soon
			}
			a.fruitless(now, i)
		case a.sender.Path(i).Missed() >= recovery.MissedAtMost:
			a.shorten(i)
		}
		if p.state == Active && a.sender.State(i) == transfer.Suspect {
			a.setState(now, i, Suspect)
		}
	}
	a.jam()
}

// A jammed chunk is one for which all others wait, and that is longer than what any path carries by now. It can not be made shorter (RFC 9260,
// section 6.9), and where no router cuts what is too long, or a firewall drops the pieces, it never arrives.
type jammed struct {
	tsn    uint64
	sends  int
	path   int    // over which it was sent last,
	passed uint64 // and what had got through there then
	pieces int    // into which it is cut, at most so far
}

const (
	// leastVain is how often a jammed chunk is sent in vain, at least, while shorter packets get through.
	leastVain = 4
	// byChance is how unlikely it has to be that so many packets in a row are lost by chance, of which each piece is as shorter packets are.
	byChance = 1e-7
	// compared is how many short packets a piece is compared with.
	compared = 4
)

// jam ends the association if nothing gets past such a chunk. Its owner can say all of it anew, in packets that are short. Short packets are counted that
// were sent at the same time: a path that lost none a moment ago may lose every second one now.
func (a *Association) jam() {
	tsn, sends, path, pieces := a.sender.TooLong()
	j := a.jammed
	if sends == j.sends && tsn == j.tsn {
		return
	}
	passed, _ := a.sender.Passed(path)
	if tsn != j.tsn || sends < j.sends || pieces > j.pieces { // packets that have come to be shorter were lost for their length, perhaps
		a.jammed = jammed{tsn, sends, path, passed, pieces}
		a.sender.Recount()
		for i := range a.paths {
			a.paths[i].vain = 0
		}
		return
	}
	a.jammed = jammed{tsn, sends, path, passed, j.pieces}
	if passed, _ := a.sender.Passed(j.path); passed == j.passed {
		return
	}
	a.paths[j.path].vain++
	if vain, chance := a.inVain(j.pieces); vain >= leastVain && chance < byChance {
		a.breakOff(refusal{chunk.CauseUser, []byte(ErrTooLong.Error())}, ErrTooLong)
	}
}

// inVain is how often a jammed chunk was sent in vain over all paths, and how likely it is that it was lost each time by chance, with any of so many pieces.
func (a *Association) inVain(pieces int) (times int, chance float64) {
	chance = 1
	for i := range a.paths {
		vain := a.paths[i].vain
		_, loss := a.sender.Passed(i)
		times += vain
		chance *= math.Pow(1-math.Pow(1-loss, float64(pieces)), float64(vain))
	}
	return times, chance
}

// compare has short packets sent over the path of a jammed chunk, one after the other, each time that it is sent there.
func (a *Association) compare(i int) {
	j := &a.jammed
	if passed, _ := a.sender.Passed(i); i == j.path && passed-j.passed < uint64(compared*j.pieces) {
		a.askAgain(0, i)
	}
}

// fruitful notes that data has arrived, or that the peer has no room for it, or that there is none.
func (a *Association) fruitful(now int64) {
	a.fruitAt = now
	for i := range a.paths {
		a.paths[i].futile = 0
	}
}

// fruitless notes that data was not answered that went over a path. What data does not get through to is not there for ever because heartbeats do, which end
// the count of errors (RFC 9260, section 8.1, allows that).
func (a *Association) fruitless(now int64, i int) {
	if p := &a.paths[i]; now-p.futileAt >= a.e.config.pace() {
		p.futile, p.futileAt = p.futile+1, now
	}
	if a.state != Closed && a.unheard(now) {
		a.end(ErrNoAnswer)
	}
}

// Refused notes that the network says that nobody is at an address of the peer's, at its port. It reports whether that goes for the peer: no
// path is good any more. A firewall on one of several ways says the same, while the peer is there over the others. So they are asked: if
// the peer has gone, that is said of each of them. [Association.Send] may have something then.
func (a *Association) Refused(now int64, remote netip.AddrPort) (gone bool) {
	known := false
	for i := range a.paths {
		p := &a.paths[i]
		if p.Remote != remote {
			continue
		}
		known = true
		if a.sender != nil && p.state == Active {
			a.setState(now, i, Suspect)
			a.seek(now, i)
		}
	}
	return known && (a.sender == nil || !a.another(-1))
}

// blackHole is after how many errors, or long packets that are lost, in a row packets may be too long (RFC 8899, section 4.3).
const blackHole = 3

// shorter has packets be short again if those that are longer may not get through any more, as an answer is late: nothing does, or short
// ones only.
func (a *Association) shorter(i int) {
	if a.paths[i].stuck >= blackHole || a.sender.Path(i).Missed() >= blackHole {
		a.shorten(i)
	}
}

func (a *Association) shorten(i int) {
	if p := &a.paths[i]; p.mtu.Shrunk() {
		p.stuck, p.sound = 0, question{}
		a.sender.Resize(i, p.packet())
	}
}

// TooLong notes that the system does not take packets of such a length on the way to an address. [Association.Send]
// may have something then: shorter ones are tried. What can be no shorter the network is to cut.
func (a *Association) TooLong(now int64, remote netip.AddrPort, size int) {
	for i := range a.paths {
		p := &a.paths[i]
		switch {
		case p.Remote != remote:
		case p.sound.size&^3 == size && p.sound.number != 0:
			p.mtu.Refused(p.sound.size)
			p.sound = question{}
			a.sounds(now, i)
		case size > p.packet():
		case !p.mtu.Shrunk():
			p.cut = true
		case a.sender != nil:
			p.sound = question{}
			a.sender.Resize(i, p.packet())
			a.sounds(now, i)
		}
	}
}

// Untaken notes that the system had no room for a packet of such a length to an address. That says nothing of what the path carries: one that is to find that out is sent
// again, after as long as an answer to it would be waited for.
func (a *Association) Untaken(remote netip.AddrPort, size int) {
	for i := range a.paths {
		if p := &a.paths[i]; p.Remote == remote && p.sound.number != 0 && p.sound.size&^3 == size {
			p.sound.kept = true
		}
	}
}
