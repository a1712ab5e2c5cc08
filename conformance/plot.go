package conformance

import "github.com/strandmp/strand/btl"

// A plotKind is a way to lay out the memory that a payload lands in.
type plotKind uint8

const (
	plotWhole   plotKind = iota // one piece
	plotVector                  // many pieces, some of them empty
	plotShort                   // less than the payload, then scratch
	plotNothing                 // scratch alone
	plotRevoked                 // revoked before it is handed over
	plotKinds
)

// guard is the margin around each piece of a plot, which nobody may write to.
const guard = 24

// A plot is the memory behind a landing. What the transport must not touch is
// scribbled over: the margins from the start, the pieces once they are taken back.
// Nothing may change there afterwards.
type plot struct {
	landing btl.Landing
	p       *port
	sh      *shipment
	kind    plotKind
	block   []byte
	pieces  [][]byte
	taken   bool
	lent    bool  // another frame's plot uses the memory now
	over    *plot // the plot whose memory this one uses
	bad     bool  // reported already
}

func newPlot(p *port, sh *shipment, kind plotKind) *plot {
	pl := &plot{p: p, sh: sh, kind: kind}
	if p.reuse != nil {
		pl.build(p.reuse)
		return pl
	}
	rng := p.w.t.noise
	room := sh.size
	switch kind {
	case plotShort:
		room = rng.IntN(sh.size + 1)
	case plotNothing:
		room = 0
	}
	sizes := []int{room}
	if kind == plotVector {
		sizes = append(gapSizes(room, rng), 0, 0)
	}
	pl.block = scribbled(room + guard*(len(sizes)+1))
	at := guard
	for _, n := range sizes {
		// The capacity reaches into the margin, so that a write beyond the length shows.
		pl.pieces = append(pl.pieces, pl.block[at:at+n])
		at += n + guard
	}
	scratch := pl.set()
	if kind == plotRevoked {
		pl.revoke(scratch)
	}
	return pl
}

// set prepares the landing, whose memory no Mover may have now and then, and returns the scratch memory that it uses.
func (pl *plot) set() []byte {
	scratch := make([]byte, scratchSize(pl.sh.size, pl.p.w.t.noise.IntN(16)))
	pl.landing.Owner = pl
	pl.landing.Set(pl.sh.size, pl.pieces[0], pl.pieces[1:], scratch)
	if pl.p.w.t.noise.IntN(4) == 0 {
		pl.landing.Share()
	}
	return scratch
}

// build uses the memory of a plot that was revoked, as a receive does that is posted
// with the buffer of one that has completed.
func (pl *plot) build(over *plot) {
	pl.over, over.lent = over, true
	room := pl.sh.size
	for _, piece := range over.pieces {
		n := min(room, len(piece))
		pl.pieces = append(pl.pieces, piece[:n])
		room -= n
	}
	pl.set()
}

// scratchSize is small for small payloads: a byte is enough.
func scratchSize(size, n int) int {
	if size < 1<<12 {
		return 1 + n
	}
	return (1 + n) << 10
}

// revoke takes the memory back in mid-frame. Mu is held.
func (pl *plot) revoke(scratch []byte) {
	pl.take()
	pl.landing.Revoke(scratch)
}

// take checks what has landed, and takes the memory back, once no Mover writes to it any more. Mu is
// held.
func (pl *plot) take() {
	if pl.taken {
		return
	}
	pl.taken = true
	pl.landing.Settle()
	landed := pl.landing.Begun(pl.sh.size)
	at := 0
	for _, piece := range pl.pieces {
		n := min(len(piece), max(0, landed-at))
		if i := noise.differs(piece[:n], pl.sh.id, at); i >= 0 && !pl.p.strangers {
			pl.p.w.t.violateLocked(pl.sh.contents(), "%v: byte %d of a payload of %d bytes, read into its landing, is not the one that was sent",
				pl.p, at+i, pl.sh.size)
			break
		}
		at += len(piece)
	}
	for _, piece := range pl.pieces {
		scribble(piece)
	}
	if pl.over != nil {
		pl.over.lent = false // and is watched again
		return
	}
	pl.inspect(ruleGuard, "outside of what Landing.Next returned")
	pl.p.w.keep(pl)
}

// inspect reports memory that is not scribbled over. Mu is held.
func (pl *plot) inspect(r Rule, where string) {
	if !pl.bad && !pl.lent && unscribbled(pl.block) {
		pl.bad = true
		pl.p.w.t.violateLocked(r, "%v: a frame of %d bytes was written %s", pl.p, pl.sh.size, where)
	}
}

// The memory that is watched for late writers is bounded, in bytes and in plots.
const (
	keptBytes = 32 << 20
	keptPlots = 2048
)

// keep watches the memory of a plot until the world is closed. Mu is held.
func (w *world) keep(pl *plot) {
	w.plots = append(w.plots, pl)
	w.plotted += len(pl.block)
	for w.plotted > keptBytes || len(w.plots) > keptPlots {
		w.plots[0].inspect(ruleRevoke, "after its landing had ended or was revoked")
		w.plotted -= len(w.plots[0].block)
		w.plots = w.plots[1:]
	}
}

// inspectPlots looks for late writers. Mu is held.
func (w *world) inspectPlots() {
	for _, pl := range w.plots {
		pl.inspect(ruleRevoke, "after its landing had ended or was revoked")
	}
}
