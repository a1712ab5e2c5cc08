package sctp

import (
	"net/netip"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// How an association begins that we have asked for (RFC 9260, section 5.1).

// A beginning is what is needed until the association is established.
type beginning struct {
	cookie []byte // to be sent back
	longer uint32 // ms that the next cookie is to live longer
	stale  int    // how many cookies came back too late
	trip   int64  // how long the answer to our INIT took; 0: not known
}

// mostCookie bounds the cookie that we keep for a peer.
const mostCookie = 4096

// promised takes an INIT ACK.
func (a *Association) promised(in *incoming, c chunk.Chunk) {
	if a.state != CookieWait { // section 5.2.3
		return
	}
	var g greeting
	r := g.read(c)
	if r == nil && (len(g.cookie) == 0 || len(g.cookie) > mostCookie) {
		r = &refusal{chunk.CauseMissingParameter, []byte{0, 0, 0, 1, 0, chunk.ParamCookie}}
	}
	if r == nil && a.e.namesake(g.Tag, &g.addresses, in.from.Port(), a.port) != nil {
		a.end(ErrMet) // without a word: an ABORT would end the other one
		return
	}
	a.peerTag = g.Tag
	if r != nil {
		if r.cause != 0 {
			a.violated(r.cause, r.info, "its INIT ACK is not acceptable")
		}
		return
	}
	k := cookie{
		peerTag: g.Tag, peerTSN: g.TSN, window: g.Window, local: in.local, from: in.from, further: g.addresses,
		out: min(uint16(a.e.config.Streams), g.In), in: min(uint16(a.e.config.Streams), g.Out),
	}
	k.offer(&a.e.config, &g)
	if path, ok := a.pathOf(in); ok && a.tries == 0 && a.paths[path].greeted != 0 {
		a.begin.trip = min(in.now-a.paths[path].greeted, int64(a.e.config.RTOInitial)) // we may have been stopped
	}
	a.begin.cookie = append(a.begin.cookie[:0], g.cookie...)
	a.settle(in.now, &k)
	a.prune(in.now, &k)
	a.e.register(a)
	if path, ok := a.pathOf(in); ok && g.unknown {
		a.paths[path].report = g.appendReport(a.paths[path].report[:0])
	}
	a.enter(in.now, CookieEchoed)
}

// prune drops the paths to addresses that are not the peer's, and those that are too many. The path over which it has answered is the first.
func (a *Association) prune(now int64, k *cookie) {
	kept := a.paths[:0]
	first := 0
	for i := range a.paths {
		p := a.paths[i]
		if p.Remote != k.from && !k.names(p.Remote) {
			a.e.release(a, p.Remote)
			continue
		}
		if p.Remote == k.from && p.Local == k.local {
			first = len(kept)
			p.confirm(now)
		}
		kept = append(kept, p)
	}
	a.paths, a.primary = kept, 0
	if len(kept) == 0 { // it is elsewhere: at another port of UDP's (RFC 6951, section 5.4), or at an address that it had taken back
		a.addPath(now, a.e.reach(k.from, k.local))
		a.paths[0].confirm(now)
		return
	}
	kept[0], kept[first] = kept[first], kept[0]
	for len(a.paths) > mostAddresses {
		last := len(a.paths) - 1
		a.e.release(a, a.paths[last].Remote)
		a.paths = a.paths[:last]
	}
}

// agreed takes a COOKIE ACK.
func (a *Association) agreed(now int64) {
	if a.state != CookieEchoed {
		return
	}
	a.establish(now)
	a.owner.Up()
}

// expired takes the error that the cookie was too old: a new one is asked for, that lives longer
// (section 5.2.6). It is asked for with a new tag. Errors of earlier cookies are not taken for this one's then, and a peer that has
// taken an earlier one, and whose answer was lost, takes this one for a restart: with a known tag it is in no row of the table in
// section 5.2.4, and is not answered.
func (a *Association) expired(now int64, by uint32) {
	if a.state != CookieEchoed {
		return
	}
	if a.begin.stale++; a.begin.stale > a.e.config.InitMaxRetrans {
		a.end(ErrNoAnswer)
		return
	}
	a.enter(now, CookieWait)
	a.peerTag = 0
	a.e.retag(a)
	a.begin.longer = by/1000*2 + 1000
}

// appendInit appends our INIT.
func (a *Association) appendInit(b []byte) []byte {
	b, start := chunk.BeginInit(b, chunk.TypeInit, a.e.initial(a.tag, a.tsn))
	b = a.e.offer(b, announced(a.own(), a.paths[a.duePath()].Remote.Addr()))
	if a.begin.longer != 0 {
		b = chunk.AppendNumberField(b, chunk.ParamPreservative, a.begin.longer)
	}
	return chunk.End(b, start)
}

// own are the addresses of ours that the association has.
func (a *Association) own() []netip.Addr {
	var all addresses
	for i := range a.paths {
		all.add(a.paths[i].Local)
	}
	return all.all()
}

// appendReport appends, for an ERROR, the parameters of an INIT ACK that its sender is to be told of.
func (g *greeting) appendReport(b []byte) []byte {
	var all [mostInfo + fieldHeader]byte
	fields := chunk.FieldsOf(g.appendUnknown(all[:0], mostInfo))
	b, start := chunk.BeginField(b, chunk.CauseUnrecognizedParameter)
	for f, ok := fields.Next(); ok; f, ok = fields.Next() {
		b = append(b, f.Value...)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	return chunk.EndField(b, start)
}
