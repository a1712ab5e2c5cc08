package rails

import (
	"errors"
	"time"

	"github.com/strandmp/strand/btl"
)

// Verdict declares a peer failed, for one of these reasons and for no other. A peer that was
// met has not failed because connections to it fail. A network that is gone for a while, a host
// out of descriptors or ports, and a middlebox that resets what it has forgotten all look like
// that. The peer has failed when it has proved to refuse us, when the launcher says so, or when
// there was no sign of it for too long.

// A Reason is why a peer counts as failed.
type Reason uint8

// The reasons.
const (
	NoReason      Reason = iota
	LaunchersWord        // the launcher says so, or that it has left, and what the peer had sent was read
	Damage               // what it says makes no sense, and would not if it were said again
	Refusal              // it has proved who it is and refuses; or who is there is not it
	Departure            // nothing listens at any of its addresses
	Silence              // it gives no sign of life
	Standstill           // connections break again and again, and nothing gets through
	Unreachable          // there was never a connection, and all ways were tried
)

// Evidence is what there is to judge a peer by.
type Evidence struct {
	Met       bool          // there was a connection
	Connected bool          // there is one
	Ending    bool          // one takes nothing more, and is about to be read to its end
	Doomed    bool          // the launcher says that it has failed, or has left
	HeardOut  bool          // and what it had sent has had its time to be read
	Damaged   bool          // what it has said makes no sense
	Refused   bool          // by all ways that there are, with proof
	Exhausted bool          // never met, and all ways have failed
	Absent    time.Duration // for how long all its addresses have refused, at one time
	Silent    int           // beats that something depended on it and nothing came
	Stuck     int           // beats in which nothing got through although something waited,
	Breaks    int           // and how many connections broke meanwhile
	Told      bool          // a launcher tells of ranks that die
	Leaving   bool          // this process closes its world: no beat looks after peers any more
	Patient   bool          // pml_peer_timeout is 0: silence is no reason
}

const (
	// Absence is how long a peer that was met may refuse connections at each of its addresses,
	// where no launcher tells that it lives. A firewall that is loaded anew, or a router that
	// starts, refuses for half a second.
	Absence = 2 * time.Second
	// manyBreaks is how many connections have to break, while nothing gets through for
	// pml_peer_timeout or longer, before the peer has failed. After fewer it may just need more
	// time.
	manyBreaks = 8
)

// Verdict says for which reason the peer has failed, if it has.
func (e Evidence) Verdict() Reason {
	switch {
	case e.Doomed && (!e.Connected && !e.Ending || e.HeardOut):
		return LaunchersWord
	case e.Damaged:
		return Damage
	case e.Refused && !e.Connected:
		return Refusal
	case e.Exhausted && !e.Connected:
		return Unreachable
	case e.Absent >= Absence && !e.Connected && (!e.Told || e.Leaving):
		return Departure
	case e.Met && !e.Patient && e.Silent >= Missable:
		return Silence
	case e.Met && !e.Patient && e.Stuck >= Missable && e.Breaks >= manyBreaks:
		return Standstill
	}
	return NoReason
}

// Evidence is what is known of the peer now.
func (p *Peer) Evidence(e Env) Evidence {
	away := p.refusing(e)
	return Evidence{
		Met: p.Met, Connected: p.Connected(), Ending: p.ending(),
		Doomed: p.doomedAt != 0, HeardOut: p.doomedAt != 0 && e.Now >= p.doomedAt+int64(LastWords),
		Damaged: p.damaged, Refused: p.refuses(e), Exhausted: p.exhausted,
		Absent: time.Duration(away.last - away.since),
		Silent: p.conduct.silent, Stuck: p.conduct.stuck, Breaks: p.conduct.breaks,
		Told: e.Appeals, Leaving: e.Leaving, Patient: e.PeerTimeout == 0,
	}
}

// refuses reports whether there is a way to the peer that this side can open, and all such ways
// have come to a final end. What stands by is such a way too, unless the end tells of the peer. A process that has nothing to say but goodbye needs one such end
// only, if that tells of the peer: the peer has proved who it is and refuses this process, or an
// unbreakable way that has led to the peer has ended. An address that was never right, or has
// become somebody else's, says nothing of the peer.
func (p *Peer) refuses(e Env) bool {
	ended, told, open := false, false, false
	for _, r := range p.Rails {
		switch {
		case r.Foreign:
		case r.State == Gone && (r.Unbreakable || Final(r.Cause)):
			ended = true
			told = told || r.met && r.Unbreakable || errors.Is(r.Cause, btl.ErrUnwelcome)
		default:
			open = true
		}
	}
	open = open || len(p.Standby) > 0 && !told
	return ended && (!open || e.Parting && told)
}

// refusing is since when, and until when, nothing listened at any of the peer's addresses: the
// time that the rows of refused attempts of all rails have in common. It is empty for a peer
// that was never met, which may be another host, or one that does not listen yet. It is empty,
// too, if networks have refused in turn, however long ago the first one did: that one may be
// back.
//
// A process that has nothing to say but goodbye takes the longest row of any rail since the
// last connection broke. Addresses that say nothing, now or since they refused, do not matter.
func (p *Peer) refusing(e Env) row {
	var common row
	for _, r := range p.Rails {
		own := r.refused
		if e.Parting {
			own.since = max(own.since, p.lost)
		}
		switch {
		case r.Foreign:
		case !p.Met || !own.runs && !e.Parting:
			return row{}
		case !own.runs:
		case !common.runs || e.Parting && own.last-own.since > common.last-common.since:
			common = own
		case !e.Parting:
			common.since, common.last = max(common.since, own.since), min(common.last, own.last)
		}
	}
	return common
}
