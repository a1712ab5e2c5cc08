package rails

import "github.com/strandmp/strand/btl"

// A path that looks well may lead nowhere: a network that is not joined, a firewall, a way
// back that does not exist. While no rail is connected, the rails are tried one after the
// other. The next one does not wait for the one before to fail, which takes a system many
// seconds. What stands by follows when all rails were tried. When nothing is left, the
// peer is asked to connect to us. The first rail to be connected carries the messages. The
// others are brought back beside it, with growing pauses.

// A Do is what the caller is to do.
type Do uint8

// What there is to do.
const (
	Wait     Do = iota // for the next event, or until Step.At if that is not 0; then ask again
	Resolve            // fetch the peer's addresses, and call [Peer.Attach] or [Peer.NoWay]
	Connect            // have Step.Rail connect; where Step.Anew over a new endpoint, since its own is broken
	Activate           // call [Peer.Attach] with Step.Rails behind those that there are
	Appeal             // have the peer asked to connect to us
	Fail               // the peer has failed, for Step.Reason: call [Peer.End]
)

// A Step is what [Peer.Next] says.
type Step struct {
	Do     Do
	Rail   *Rail
	Anew   bool
	Rails  []*Rail
	Reason Reason
	At     int64
}

// Next says what is to be done now. The caller does it and asks again, until it is to
// wait; and asks after each event.
func (p *Peer) Next(e Env) Step {
	if p.Stage == Closed || p.Stage == Failed {
		return Step{}
	}
	p.readAfterStop(e)
	if why := p.Evidence(e).Verdict(); why != NoReason {
		return Step{Do: Fail, Reason: why}
	}
	var s Step
	switch {
	case p.Stage == New:
		s = p.contact(e)
	case e.Needless:
	case p.Stage == Resolving:
		if p.noWay {
			s = p.appeal(e)
		}
	case p.Connected():
		s = p.bringBack(e)
	case p.wanted:
		s = p.reach(e)
	}
	if p.doomedAt != 0 {
		s.by(p.doomedAt + int64(LastWords))
	}
	return s
}

// readAfterStop gives what a doomed peer has sent its time once more where this process was stopped meanwhile, and may have read
// little of it.
func (p *Peer) readAfterStop(e Env) {
	if p.doomedAt != 0 && !p.reread && e.Now-p.doomedAt >= int64(2*LastWords) {
		p.doomedAt, p.reread = e.Now, true
	}
}

// by has the caller ask again no later than at a time.
func (s *Step) by(at int64) {
	if at != 0 && (s.At == 0 || at < s.At) {
		s.At = at
	}
}

// contact makes the first contact.
func (p *Peer) contact(e Env) (s Step) {
	sought := p.seekAt != 0 && e.Now >= p.seekAt
	if sought {
		p.seekAt = 0
	}
	if p.wanted || sought && !e.Leaving {
		p.Stage, p.wanted = Resolving, true
		s.Do = Resolve
		return s
	}
	s.by(p.seekAt)
	return s
}

// bringBack brings rails back while others carry on. Where those that are connected come
// and go, and nothing gets through, it looks for others too. Where they are silent, pauses are short: the
// only rail that is left is not given up for that.
func (p *Peer) bringBack(e Env) (s Step) {
	longest := lastPause
	if p.quiet() {
		longest = firstPause
	}
	vain := p.inVain(e)
	if vain {
		if activated := p.activate(e); activated != nil {
			return Step{Do: Activate, Rails: activated}
		}
	}
	for _, r := range p.Rails {
		switch {
		case r.Foreign || r.Tier < p.tier && !vain:
		case r.State == Idle && vain:
			return p.connect(r, e)
		case r.State == Down:
			at := r.since + int64(min(max(r.pause, firstPause), longest))
			if at <= e.Now {
				return p.connect(r, e)
			}
			s.by(at)
		}
	}
	return s
}

// inVain reports whether nothing gets through, although rails are connected: those that are,
// and some that are being brought back, have broken again and again. The others, of those that
// are brought back, have failed at least once: an attempt may last for seconds.
func (p *Peer) inVain(e Env) (vain bool) {
	for _, r := range p.Rails {
		switch again := r.futile >= quickReconnects; {
		case !p.tried(r):
		case r.State.Connected() && (!again || r.moved != e.Moved), r.futile == 0:
			return false
		default:
			vain = vain || again
		}
	}
	return vain
}

func (p *Peer) tried(r *Rail) bool {
	return r.State.Connected() || r.Tier >= p.tier && r.State != Idle && r.State != Gone
}

// reach looks for a way to a peer to which none leads.
func (p *Peer) reach(e Env) (s Step) {
	if p.appealAt != 0 && e.Now >= p.appealAt {
		p.appealAt = 0
		return Step{Do: Appeal}
	}
	s.by(p.appealAt)
	if p.widenAt == 0 {
		p.widenAt = e.in(NextRail)
	}
	widen, pending, hope := e.Now >= p.widenAt, false, false
	for _, r := range p.Rails {
		pending = pending || r.State == Connecting || r.State == Breaking
		hope = hope || p.opens(r)
	}
	var r *Rail
	if widen || !pending {
		r = p.choose(e, widen, &s)
	}
	// What stands by is not kept waiting by rails that come and go and carry nothing, nor, where
	// only goodbye is left to say, by an address that refuses.
	if widen && (r == nil || r.futile >= quickReconnects || e.Parting && r.refused.runs) || !hope && !pending {
		if activated := p.activate(e); activated != nil {
			return Step{Do: Activate, Rails: activated}
		}
	}
	if r != nil {
		if widen {
			p.widenAt = e.in(NextRail)
		}
		return p.connect(r, e)
	}
	if !widen {
		s.by(p.widenAt)
	}
	if !hope && !pending && !p.Met {
		return p.appeal(e)
	}
	return s
}

// connect has a rail connect.
func (p *Peer) connect(r *Rail, e Env) Step {
	s := Step{Do: Connect, Rail: r, Anew: r.State == Down}
	p.open(r, e)
	return s
}

// choose finds a rail to be opened now. The first is the one that broke last, since it has
// served. When that has had its time, or no rail has ever served, those that were never
// tried come first. The step says when the next one is due.
func (p *Peer) choose(e Env, widen bool, s *Step) *Rail {
	if p.Met && !widen && p.last != nil && p.opens(p.last) && p.due(p.last, e) <= e.Now {
		return p.last
	}
	for _, r := range p.Rails {
		if r.State == Idle && p.opens(r) {
			return r
		}
	}
	return p.longestDue(e, s)
}

// longestDue finds the broken rail that is due to be opened for longest. So none is kept waiting by
// others that fail at once, again and again.
func (p *Peer) longestDue(e Env, s *Step) (longest *Rail) {
	since := e.Now + 1
	for _, r := range p.Rails {
		if r.State != Down || !p.opens(r) {
			continue
		}
		at := p.due(r, e)
		if at > e.Now {
			s.by(at)
		}
		if at < since {
			longest, since = r, at
		}
	}
	return longest
}

// opens reports whether this side, as far as is known, can open the rail, and whether it is of
// use to try. Before the first contact a rail that failed is tried again only if another one
// has failed since: that all fail says something of the peer only if they fail at one time. Or if
// another one keeps it waiting.
func (p *Peer) opens(r *Rail) bool {
	switch {
	case r.Foreign:
		return false
	case r.State == Idle:
		return true
	case r.State != Down:
		return false
	}
	return p.Met || p.outlived(r) || p.besides(r) != 0
}

// outlived reports whether a rail has failed after the last failure of another one.
func (p *Peer) outlived(r *Rail) bool {
	for _, other := range p.Rails {
		if other.State == Down && !other.Foreign && other.failing.since > r.failing.last {
			return true
		}
	}
	return false
}

// besides is when a rail that failed may be tried again though others, all that there are, are still being tried; 0: not before
// they have failed. A network where nobody answers may take half a minute to say so. So it is when an attempt of another one has
// taken more than twice as long as any before, of either, that failed. Rails that all take as long can not keep each other
// going for ever: from one to the next the time doubles.
func (p *Peer) besides(r *Rail) (at int64) {
	if len(p.Standby) > 0 {
		return 0
	}
	for _, other := range p.Rails {
		if other.State != Connecting || other.Foreign {
			continue
		}
		if then := other.since + 2*max(other.longest, r.longest) + 1; at == 0 || then < at {
			at = then
		}
	}
	return at
}

// due is when a rail is to be opened again while none is connected. A peer that refuses
// everywhere may do so for Absence. When that is over, all its rails are tried.
func (p *Peer) due(r *Rail, e Env) int64 {
	at := r.since + int64(r.rest())
	if !p.Met && !p.outlived(r) {
		return max(at, p.besides(r))
	}
	if away := p.refusing(e); away.runs {
		if end := away.since + int64(Absence); end > r.since {
			at = min(at, end)
		}
	}
	return at
}

// activate takes the next of what stands by: one spare path, or all rails of a tier. It leaves
// out the spare paths of a peer that refuses wherever it is tried: they would only take time. One that
// has done so for Absence, and of which the launcher does not tell that it has left, is behind a firewall.
func (p *Peer) activate(e Env) (activated []*Rail) {
	e.Parting = false // one address that refuses is not all of them
	away := p.refusing(e)
	left := away.runs && away.last >= away.since && away.last-away.since < int64(Absence)
	kept := p.Standby[:0:0]
	for _, r := range p.Standby {
		spare := r.Spare != btl.NotSpare
		switch {
		case spare && left, len(activated) > 0 && (spare || r.Tier != activated[0].Tier):
			kept = append(kept, r)
		default:
			activated = append(activated, r)
		}
	}
	p.Standby = kept
	return activated
}

// NoWay notes that this host knows no way to the peer. MayCome says that the peer may know one
// to us.
func (p *Peer) NoWay(mayCome bool) { p.noWay, p.exhausted = mayCome, !mayCome }

// appeal asks a peer to connect that was never connected and to which no way leads. The peer
// has failed if it is not connected within AppealTime, or can not be asked.
func (p *Peer) appeal(e Env) (s Step) {
	switch {
	case !e.Appeals || e.Leaving && p.answerBy == 0:
		p.exhausted = true
	case p.answerBy == 0:
		p.answerBy, p.overtime = e.in(AppealTime), false
		return Step{Do: Appeal}
	case e.Now-p.answerBy >= int64(afterStop) && !p.overtime:
		// This process was stopped: who has connected meanwhile is let in first.
		p.answerBy, p.overtime = e.Now+int64(afterStop), true
		s.by(p.answerBy)
		return s
	case e.Now >= p.answerBy:
		p.exhausted = true
	default:
		s.by(p.answerBy)
		return s
	}
	return Step{Do: Fail, Reason: Unreachable}
}
