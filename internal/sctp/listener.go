package sctp

import (
	"net/netip"
	"time"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// greet answers an INIT. Nothing is kept for it.
func (e *Endpoint) greet(in *incoming, chunks chunk.Chunks) (*Association, []byte) {
	c, ok := chunks.Next()
	if !ok || !chunks.Whole() || in.header.Tag != 0 {
		e.Malformed++
		return nil, nil
	}
	var g greeting
	if r := g.read(c); r != nil {
		e.Malformed++
		return nil, in.refuse(chunk.TypeAbort, g.Tag, r)
	}
	k := cookie{
		made: in.now, peerTag: g.Tag, peerTSN: g.TSN, window: g.Window, port: in.header.Source,
		out: min(uint16(e.config.Streams), g.In), in: min(uint16(e.config.Streams), g.Out),
		local: in.local, from: in.from, further: g.addresses,
	}
	k.life = int64(e.config.CookieLife)
	k.life += min(int64(g.longer)*1e6, k.life)
	k.offer(&e.config, &g)
	if a := e.byPeer[peer{in.from, in.header.Source}]; a != nil {
		return a.greeted(in, &g, &k)
	}
	k.tag, k.tsn = e.fresh(), uint32(e.config.Random())
	return nil, e.introduce(in, &g, &k)
}

// offer notes what both sides have.
func (k *cookie) offer(c *Config, g *greeting) {
	k.held = g.held
	if c.Interleave && g.interleave {
		k.flags |= cookieInterleave
	}
	if c.ZeroChecksum != 0 {
		k.flags |= cookieZeroIn
		if c.ZeroChecksum == g.zero {
			k.flags |= cookieZeroOut
		}
	}
}

// introduce makes an INIT ACK.
func (e *Endpoint) introduce(in *incoming, g *greeting, k *cookie) []byte {
	e.Greetings++
	b, start := chunk.BeginInit(in.begin(g.Tag), chunk.TypeInitAck, e.initial(k.tag, k.tsn))
	b = e.offer(b, nil)
	b, field := chunk.BeginField(b, chunk.ParamCookie)
	b = chunk.EndField(e.keys.seal(in.now, b, k), field)
	for _, a := range announced(e.config.Addresses, in.from.Addr()) {
		if len(b)+mostAddress > in.affords() {
			break
		}
		b = chunk.AppendAddress(b, a)
	}
	b = chunk.End(g.appendUnknown(b, min(mostInfo, max(in.affords()-len(b), 0))), start)
	chunk.Seal(b)
	return b
}

const (
	mostAddress = 4 + 16 // the parameter
	// amplified is how many times as long as the question the answer to a stranger may be, who may have
	// given somebody else's address for his (RFC 9000, section 8). Headers are those of UDP and IPv4.
	amplified = 3
	headers   = 28
)

// affords is how long the answer to a stranger's packet may be.
func (in *incoming) affords() int { return amplified*(in.size+headers) - headers }

// initial is the fixed part of our INITs and INIT ACKs.
func (e *Endpoint) initial(tag, tsn uint32) chunk.Init {
	streams := uint16(e.config.Streams)
	return chunk.Init{Tag: tag, Window: uint32(e.config.Window), Out: streams, In: streams, TSN: tsn}
}

// echoed takes a COOKIE ECHO, and what comes with it.
func (e *Endpoint) echoed(in *incoming, chunks chunk.Chunks) (a *Association, reply []byte) {
	c, _ := chunks.Next()
	if e.byTag[in.header.Tag] == nil && e.byPeer[peer{in.from, in.header.Source}] == nil && !e.config.Room(in.from) {
		e.Refused++ // before its cookie is looked at, which costs more
		return nil, nil
	}
	k, ok := e.keys.open(in.now, c.Value)
	if !ok || in.header.Tag != k.tag || in.header.Source != k.port || !k.names(in.from) {
		e.Cookies++
		return nil, nil
	}
	if a = e.holder(in, &k); a != nil {
		a, reply = a.echoed(in, &k)
	} else {
		a, reply = e.accept(in, &k)
	}
	if a == nil {
		return nil, reply
	}
	if path, ok := a.pathOf(in); ok && in.header.Tag == a.tag {
		a.receive(in, path, chunks)
	}
	return a, reply
}

// names reports whether an address is one of those of the peer that has got the cookie.
func (k *cookie) names(from netip.AddrPort) bool {
	if from.Port() != k.from.Port() {
		return false
	}
	ok := from.Addr() == k.from.Addr()
	for _, a := range k.further.all() {
		ok = ok || a == from.Addr()
	}
	return ok
}

// holder is the association with the peer of a cookie.
func (e *Endpoint) holder(in *incoming, k *cookie) *Association {
	for _, addr := range [...]netip.AddrPort{in.from, k.from} {
		if a := e.byPeer[peer{addr, k.port}]; a != nil {
			return a
		}
	}
	if a := e.namesake(k.peerTag, &k.further, k.from.Port(), k.port); a != nil {
		return a
	}
	return e.byTag[k.tag]
}

// namesake is the association with a peer that has a tag, and one of some addresses. Anybody can say that such an address is its own, but nobody else
// knows the tag: it is the same end of the peer's, which has an association with one of our ends only.
func (e *Endpoint) namesake(tag uint32, at *addresses, udp, port uint16) *Association {
	for _, addr := range at.all() {
		if a := e.byPeer[peer{netip.AddrPortFrom(addr, udp), port}]; a != nil && a.peerTag == tag {
			return a
		}
	}
	return nil
}

// accept makes an association.
func (e *Endpoint) accept(in *incoming, k *cookie) (a *Association, reply []byte) {
	switch late := in.now - k.made - k.life; {
	case late > 0:
		e.Stale++
		return nil, in.refuse(chunk.TypeError, k.peerTag, &refusal{chunk.CauseStaleCookie, stale(late)})
	case e.byTag[k.tag] != nil || e.ended.has(in.now, k.tag):
		e.Cookies++
		return nil, nil
	case !e.config.Room(in.from):
		e.Refused++
		return nil, nil
	}
	a = e.newAssociation(k.port)
	a.cookieEnds = k.made + k.life
	a.tag, a.tsn = k.tag, k.tsn
	a.begin.trip = min(in.now-k.made, int64(e.config.RTOInitial))
	a.settle(in.now, k)
	e.register(a)
	a.establish(in.now)
	a.acknowledge(in)
	a.owner = e.config.Accept(a)
	if a.owner == nil && a.state != Closed {
		a.owner = nobody{}
		a.Abort("")
		e.Refused++
	}
	return a, nil
}

// settle takes from a cookie what is known of the peer, and its addresses.
func (a *Association) settle(now int64, k *cookie) {
	a.adopt(k)
	if len(a.paths) == 0 {
		a.addPath(now, a.e.reach(k.from, k.local))
		a.paths[0].confirm(now)
	}
	for _, addr := range k.further.all() {
		a.further(now, addr, k.from.Port(), k.local)
	}
}

// adopt takes from a cookie what was agreed on.
func (a *Association) adopt(k *cookie) {
	a.peerTag, a.peerTSN, a.window = k.peerTag, k.peerTSN, k.window
	a.outStreams, a.inStreams = k.out, k.in
	a.peerHeld = a.e.config.PeerHeld
	if k.held > 0 {
		a.peerHeld = time.Duration(k.held) * time.Millisecond
	}
	a.interleave, a.zeroIn, a.zeroOut = k.flags&cookieInterleave != 0, k.flags&cookieZeroIn != 0, k.flags&cookieZeroOut != 0
}

// reach is the path over which something has come.
func (e *Endpoint) reach(remote netip.AddrPort, arrived netip.Addr) Pair {
	p, ok := e.config.Local(remote, arrived)
	if !ok || p.Local != arrived {
		p = Pair{Base: p.Base, Most: p.Most, Narrow: p.Narrow}
	}
	p.Local, p.Remote = arrived, remote
	return p
}
