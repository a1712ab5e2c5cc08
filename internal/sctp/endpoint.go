package sctp

import (
	"io"
	"net/netip"
	"syscall"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// An Endpoint is an SCTP port: its associations, and what strangers are told. It is not safe for concurrent use.
type Endpoint struct {
	config Config
	byTag  map[uint32]*Association
	byPeer map[peer]*Association
	keys   keys
	ended  graves
	Counters
}

// A peer is found by its addresses, if not by our tag.
type peer struct {
	addr netip.AddrPort
	port uint16 // of SCTP
}

// Counters say how many packets were dropped without an answer, or answered out of the blue.
type Counters struct {
	// Malformed were no packets of SCTP, or for another port. Damaged had a wrong checksum.
	Malformed, Damaged uint64
	// Foreign had a tag that was not right, or came from an address that is not the peer's. Stray were for an
	// association that there is not.
	Foreign, Stray uint64
	// Greetings are INITs that were answered. Cookies are those that were not ours, not for whom they came
	// from, or used before. Stale were too old. Refused found no room.
	Greetings, Cookies, Stale, Refused uint64
}

// NewEndpoint returns an endpoint without associations.
func NewEndpoint(c Config) (*Endpoint, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	return &Endpoint{
		config: c, byTag: make(map[uint32]*Association), byPeer: make(map[peer]*Association),
		keys: keys{random: c.Random},
	}, nil
}

// Len is how many associations there are.
func (e *Endpoint) Len() int { return len(e.byTag) }

// mostPairs is how many pairs of addresses are tried to begin an association: of those beyond [mostAddresses] one alone may lead to the peer.
const mostPairs = 64

// Associate begins an association with a peer, whose SCTP has a port, over pairs of addresses, the best first. The
// first INIT leaves with the next [Association.Send]. The error is EISCONN if there is an association with the
// peer.
func (e *Endpoint) Associate(now int64, pairs []Pair, port uint16, owner Owner) (*Association, error) {
	if len(pairs) == 0 {
		return nil, syscall.EDESTADDRREQ
	}
	if e.byPeer[peer{pairs[0].Remote, port}] != nil {
		return nil, syscall.EISCONN
	}
	a := e.newAssociation(port)
	a.owner = owner
	a.tag, a.tsn = e.fresh(), uint32(e.config.Random())
	a.zeroIn = e.config.ZeroChecksum != 0 // our INIT says so, and the INIT ACK may go by it
	for _, p := range pairs[:min(len(pairs), mostPairs)] {
		a.addPath(now, p)
	}
	a.enter(now, CookieWait)
	e.register(a)
	return a, nil
}

// fresh makes a tag that no association has.
func (e *Endpoint) fresh() uint32 {
	for {
		if tag := uint32(e.config.Random() >> 32); tag != 0 && e.byTag[tag] == nil {
			return tag
		}
	}
}

// register has packets find an association. An address that belongs to another one stays there.
func (e *Endpoint) register(a *Association) {
	e.byTag[a.tag] = a
	for i := range a.paths {
		if p := (peer{a.paths[i].Remote, a.port}); e.byPeer[p] == nil {
			e.byPeer[p] = a
		}
	}
}

// retag has an association be found by a new tag.
func (e *Endpoint) retag(a *Association) {
	delete(e.byTag, a.tag)
	a.tag = e.fresh()
	e.byTag[a.tag] = a
}

func (e *Endpoint) unregister(a *Association) {
	delete(e.byTag, a.tag)
	for i := range a.paths {
		e.release(a, a.paths[i].Remote)
	}
}

// release takes an address from an association.
func (e *Endpoint) release(a *Association, addr netip.AddrPort) {
	if p := (peer{addr, a.port}); e.byPeer[p] == a {
		delete(e.byPeer, p)
	}
}

// Tagged is the association that a tag of ours is of, nil if there is none.
func (e *Endpoint) Tagged(tag uint32) *Association { return e.byTag[tag] }

// All are the associations that there are, in any order.
func (e *Endpoint) All(yield func(*Association) bool) {
	for _, a := range e.byTag {
		if !yield(a) {
			return
		}
	}
}

// Receive takes a packet that has come to one of our addresses. A is the association that it was for, or that it
// has made: [Association.Send] may have something for it now. Reply is what a stranger is told, made in buf[:0]:
// one packet that goes back the way the other one came; nil: nothing.
func (e *Endpoint) Receive(now int64, local netip.Addr, from netip.AddrPort, packet, buf []byte) (a *Association, reply []byte) {
	h, err := chunk.ParseHeader(packet)
	if err != nil || h.Destination != e.config.Port || h.Source == 0 {
		e.Malformed++
		return nil, nil
	}
	first := chunk.First(packet)
	a = e.byTag[h.Tag]
	known := a != nil && h.Source == a.port
	early := first == chunk.TypeInit || first == chunk.TypeCookieEcho
	if (!known || early) && !usable(from.Addr()) { // those of a peer are
		e.Malformed++
		return nil, nil
	}
	joined := known && e.config.Joined && len(packet) > a.MostPacket()
	unchecked := known && a.zeroIn || !known && e.config.ZeroChecksum != 0 // RFC 9653, section 5.3: who is gone is missed sooner
	chunks, err := chunk.ParseChunks(packet, unchecked && !early || joined)
	if err != nil {
		e.Damaged++
		return nil, nil
	}
	in := incoming{now: now, local: local, from: from, header: h, buf: buf[:0], size: len(packet), joined: joined}
	if local.Is4In6() || from.Addr().Is4In6() {
		in.local, in.from = local.Unmap(), netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	}
	switch {
	case first == chunk.TypeInit:
		return e.greet(&in, chunks)
	case first == chunk.TypeCookieEcho:
		return e.echoed(&in, chunks)
	case !known:
		return e.stray(&in, chunks)
	}
	path, ok := a.pathOf(&in)
	if !ok {
		e.Foreign++
		return nil, nil
	}
	a.receive(&in, path, chunks)
	return a, nil
}

// incoming is a packet, without its chunks.
type incoming struct {
	now    int64
	local  netip.Addr
	from   netip.AddrPort
	header chunk.Header
	buf    []byte
	size   int
	joined bool // several in one ([Config.Joined])
}

// stray takes a packet with a tag that is nobody's (section 8.4), or that it has since its sender knows no
// better.
func (e *Endpoint) stray(in *incoming, chunks chunk.Chunks) (a *Association, reply []byte) {
	if a = e.byPeer[peer{in.from, in.header.Source}]; a != nil {
		return a.mistaken(in, chunks)
	}
	for rest := chunks; ; {
		c, ok := rest.Next()
		if !ok {
			break
		}
		switch c.Type {
		case chunk.TypeAbort, chunk.TypeShutdownComplete, chunk.TypeCookieAck, chunk.TypeError, chunk.TypeInitAck:
			e.Stray++
			return nil, nil
		case chunk.TypeShutdownAck:
			return nil, in.reflect(chunk.TypeShutdownComplete)
		}
	}
	e.Stray++
	return nil, in.reflect(chunk.TypeAbort)
}

// mistaken takes a packet of the peer's that does not have our tag. It is dropped (section 8.5), but for what has the
// peer's tag instead, and for the end of an earlier association (section 8.5.1, E).
func (a *Association) mistaken(in *incoming, chunks chunk.Chunks) (*Association, []byte) {
	c, ok := chunks.Next()
	switch {
	case !ok:
	case c.Type == chunk.TypeShutdownAck && (a.state == CookieWait || a.state == CookieEchoed):
		return a, in.reflect(chunk.TypeShutdownComplete)
	case c.Flags&chunk.FlagTag == 0 || a.peerTag == 0 || in.header.Tag != a.peerTag:
	case c.Type == chunk.TypeAbort:
		a.aborted(c)
		return a, nil
	case c.Type == chunk.TypeShutdownComplete && a.state == ShutdownAckSent:
		a.end(io.EOF)
		return a, nil
	}
	a.e.Foreign++
	return a, nil
}

// reflect answers a packet with its own tag.
func (in *incoming) reflect(t chunk.Type) []byte {
	b := in.begin(in.header.Tag)
	b = chunk.Append(b, t, chunk.FlagTag, nil)
	chunk.Seal(b)
	return b
}

// begin begins an answer.
func (in *incoming) begin(tag uint32) []byte {
	return chunk.AppendHeader(in.buf, chunk.Header{Source: in.header.Destination, Destination: in.header.Source, Tag: tag})
}

// refuse answers with an ABORT, or with an ERROR.
func (in *incoming) refuse(t chunk.Type, tag uint32, r *refusal) []byte {
	if r.cause == 0 || tag == 0 {
		return nil
	}
	b, start := chunk.Begin(in.begin(tag), t, 0)
	b = chunk.End(chunk.AppendField(b, r.cause, r.info[:min(len(r.info), mostInfo)]), start)
	chunk.Seal(b)
	return b
}

// mostInfo bounds what is said with a cause.
const mostInfo = 256

// graves are the tags of associations that have ended lately. A cookie that made one of them does not make it
// once more.
type graves struct {
	tags  [256]uint32
	until [256]int64
	next  int
}

func (g *graves) bury(tag uint32, until int64) {
	i := g.next % len(g.tags)
	g.tags[i], g.until[i] = tag, until
	g.next++
}

func (g *graves) has(now int64, tag uint32) bool {
	for i, t := range g.tags {
		if t == tag && now <= g.until[i] {
			return true
		}
	}
	return false
}
