package sctp

import (
	"github.com/strandmp/strand/internal/sctp/chunk"
)

// What an INIT and a COOKIE ECHO mean that come from somebody with whom there is an association: both sides have
// begun at once, something has come late or twice, or the peer has restarted (RFC 9260, section 5.2).

// greeted answers an INIT.
func (a *Association) greeted(in *incoming, g *greeting, k *cookie) (*Association, []byte) {
	switch a.state {
	case ShutdownAckSent: // section 9.2
		a.due = true
		return a, nil
	case CookieWait: // section 5.2.1: what our INIT has said stands
		return a, a.e.introduce(in, g, a.named(k))
	}
	for _, addr := range g.addresses.all() {
		if !a.knows(addr) {
			return a, in.refuse(chunk.TypeAbort, g.Tag, &refusal{chunk.CauseRestartAddresses, chunk.AppendAddress(nil, addr)})
		}
	}
	k.tie = a.tie
	if a.state == CookieEchoed {
		a.named(k)
	} else {
		k.tag, k.tsn = a.e.fresh(), uint32(a.e.config.Random())
	}
	return a, a.e.introduce(in, g, k)
}

// named makes a cookie one for the association that our own INIT has begun.
func (a *Association) named(k *cookie) *cookie {
	k.tag, k.tsn = a.tag, a.tsn
	a.cookieEnds = max(a.cookieEnds, k.made+k.life)
	return k
}

// A meeting is what a cookie says to somebody who has an association already: the actions of RFC 9260,
// section 5.2.4, table 12.
type meeting uint8

const (
	ignore    meeting = iota // C, and what is not in the table
	restart                  // A: the peer begins anew
	collision                // B: both have begun at once
	repeated                 // D: it has come before, or answers ours
)

// meet looks a cookie up in the table.
func (a *Association) meet(k *cookie) meeting {
	ours, theirs := k.tag == a.tag, k.peerTag == a.peerTag
	switch {
	case ours && theirs:
		return repeated
	case ours && (a.state == CookieWait || a.state == CookieEchoed):
		return collision
	case !ours && !theirs && k.tie == a.tie && a.state != CookieWait:
		return restart
	}
	return ignore
}

// echoed takes a cookie. It returns the association that further chunks of the packet are for.
func (a *Association) echoed(in *incoming, k *cookie) (*Association, []byte) {
	what := a.meet(k)
	if late := in.now - k.made - k.life; late > 0 && what != repeated {
		a.e.Stale++
		return nil, in.refuse(chunk.TypeError, k.peerTag, &refusal{chunk.CauseStaleCookie, stale(late)})
	}
	switch what {
	case restart:
		return a.restarted(in, k)
	case collision, repeated:
		return a.again(in, k)
	}
	a.e.Cookies++
	return nil, nil
}

// restarted has a new association take the place of this one. The owner is told when that is there: it may call the peer at once, and there would be
// two, of which the peer takes the one for the end of the other.
func (a *Association) restarted(in *incoming, k *cookie) (*Association, []byte) {
	if a.state == ShutdownAckSent {
		a.due = true
		a.complain(a.duePath(), chunk.CauseShuttingDown, nil)
		return a, nil
	}
	if !a.e.config.Room(in.from) {
		a.e.Refused++
		return nil, nil
	}
	a.close()
	next, reply := a.e.accept(in, k)
	a.owner.Down(ErrRestarted)
	return next, reply
}

// again takes a cookie that says what is known, or was waited for.
func (a *Association) again(in *incoming, k *cookie) (*Association, []byte) {
	switch a.state {
	case CookieWait, CookieEchoed:
		a.settle(in.now, k)
		a.prune(in.now, k)
		a.e.register(a)
		a.establish(in.now)
		a.acknowledge(in)
		a.owner.Up()
	case ShutdownSent, ShutdownAckSent, Closed:
	default:
		a.acknowledge(in)
	}
	return a, nil
}

// acknowledge has a COOKIE ACK go back.
func (a *Association) acknowledge(in *incoming) {
	if path, ok := a.pathOf(in); ok {
		a.paths[path].cookieAck = true
	}
}
