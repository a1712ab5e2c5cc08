package selection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

// An UnreachableError says that no transport in use serves a peer.
type UnreachableError struct {
	Rank int // this process
	Peer int
	Host string // the peer's, if known
	// Refusals has an entry for every module that was asked.
	Refusals []Refusal
}

// A Refusal is a module's answer when it can not serve a peer.
type Refusal struct {
	Module string
	Reason string
}

func unreachable(rank int, peer btl.Peer, offers []Offer) error {
	e := &UnreachableError{Rank: rank, Peer: peer.Rank, Host: peer.Host}
	for _, o := range offers {
		e.Refusals = append(e.Refusals, Refusal{Module: o.name(), Reason: o.refusal()})
	}
	return e
}

func (e *UnreachableError) Error() string {
	if e.Peer == e.Rank {
		return fmt.Sprintf("rank %d can not send to itself: %s; add self to the transports (%s)",
			e.Rank, e.refusals(), param.HowTo("btl", e.listWithSelf()))
	}
	peer := fmt.Sprintf("rank %d", e.Peer)
	if e.Host != "" {
		peer += " on " + e.Host
	}
	return fmt.Sprintf(`rank %d can not reach %s: %s; let another transport serve it (%s); %s tells the addresses`,
		e.Rank, peer, e.refusals(), param.HowTo("btl", ""), param.HowTo("verbose", "1"))
}

func (e *UnreachableError) refusals() string {
	if len(e.Refusals) == 0 {
		return "no transport is in use"
	}
	all := make([]string, 0, len(e.Refusals))
	for _, r := range e.Refusals {
		all = append(all, r.Module+": "+r.Reason)
	}
	return strings.Join(all, "; ")
}

// listWithSelf is the value of btl that also allows a process to reach itself.
func (e *UnreachableError) listWithSelf() string {
	var names []string
	for _, r := range e.Refusals {
		component, _, _ := strings.Cut(r.Module, "/") // "sctp/kernel" is a module of sctp
		if component != "self" && !slices.Contains(names, component) {
			names = append(names, component)
		}
	}
	return strings.Join(append(names, "self"), ",")
}
