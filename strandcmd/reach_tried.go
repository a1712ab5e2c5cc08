package strandcmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/tryout"
)

// triedInfo is what became of a pair of addresses that was tried.
type triedInfo struct {
	Local           string         `json:"local"`
	LocalInterface  string         `json:"local_interface"`
	Remote          string         `json:"remote"`
	RemoteInterface string         `json:"remote_interface"`
	Role            role           `json:"role"`
	There           tryout.Outcome `json:"there"` // connecting from here
	Back            tryout.Outcome `json:"back"`  // connecting from the peer
}

// role is what a pair would be used for.
type role string

const (
	chosenPair role = "chosen"
	sparePair  role = "spare"
	unusedPair role = "not used"
)

// tried adds the outcomes of the attempts, each with the role that the policy gives the pair.
// Chosen pairs come first, then spare ones.
func (r *reachReport) tried(t tryout.Result, timeout time.Duration) {
	r.Tried, r.timeout, r.peer = []triedInfo{}, timeout, t.Peer
	roles := make(map[[2]string]role)
	for _, p := range r.spares {
		roles[[2]string{p.Local.Addr().String(), p.Remote.Addr().String()}] = sparePair
	}
	for _, p := range r.Pairs {
		roles[[2]string{p.Local, p.Remote}] = chosenPair
	}
	for _, kind := range []role{chosenPair, sparePair, unusedPair} {
		for _, p := range t.Tried {
			own, found := roles[[2]string{p.Local.Addr().String(), p.Remote.Addr().String()}]
			if !found {
				own = unusedPair
			}
			if own == kind {
				r.Tried = append(r.Tried, newTriedInfo(p, kind))
			}
		}
	}
}

func newTriedInfo(p tryout.Tried, kind role) triedInfo {
	return triedInfo{
		Local: p.Local.Addr().String(), LocalInterface: p.Local.Interface,
		Remote: p.Remote.Addr().String(), RemoteInterface: p.Remote.Interface,
		Role: kind, There: p.There, Back: p.Back,
	}
}

// works reports whether a pair works in at least one direction.
func (i triedInfo) works() bool { return i.There.Works || i.Back.Works }

func (i triedInfo) String() string {
	return fmt.Sprintf("%s (%s) and %s (%s)", i.Local, i.LocalInterface, i.Remote, i.RemoteInterface)
}

// verdict says in words what a program makes of a pair.
func (i triedInfo) verdict() string {
	switch {
	case i.There.Works && i.Back.Works:
		return "works both ways"
	case i.There.Works:
		return "works one way: only this host can connect, which is enough"
	case i.Back.Works:
		return "works one way: only the other host can connect, which is enough; it is asked to after a second"
	case i.Role == chosenPair:
		return "does not work, though it is chosen: a program tries the next pair after 0.25 s"
	}
	return "does not work"
}

// writeTried prints what was tried.
func (r *reachReport) writeTried(b *strings.Builder) {
	fmt.Fprintf(b, "\nTried, connecting from here and from %s, each for at most %v\n", r.peer, r.timeout)
	if len(r.Tried) == 0 {
		b.WriteString("  nothing: no address here is of a kind with one there\n")
	}
	for _, i := range r.Tried {
		fmt.Fprintf(b, "  %v (%s): %s\n    from here: %v\n    from there: %v\n", i, i.Role, i.verdict(), i.There, i.Back)
	}
	b.WriteString("\n" + r.conclusion() + "\n")
}

// conclusion sums up in a sentence what was tried.
func (r *reachReport) conclusion() string {
	chosen, lost := 0, []string(nil)
	for _, i := range r.Tried {
		if i.Role != chosenPair {
			continue
		}
		if chosen++; !i.works() {
			lost = append(lost, i.Local)
		}
	}
	switch {
	case !r.usable() && r.anyWorks():
		return "What works is left out by the policy: try --policy weighted, and if that chooses it -p btl_tcp_reach=weighted."
	case !r.usable():
		return "Nothing works: the hosts can not be connected by TCP. The reasons are above."
	case len(lost) == 0:
		return "All that is chosen works."
	}
	return fmt.Sprintf("Of %d chosen pairs %d do not work; messages go over those that do. To leave a network out from the start: -p btl_tcp_if_exclude=%s",
		chosen, len(lost), strings.Join(lost, ","))
}

func (r *reachReport) anyWorks() bool { return slices.ContainsFunc(r.Tried, triedInfo.works) }

// usable reports whether a pair works that a program would use.
func (r *reachReport) usable() bool {
	return slices.ContainsFunc(r.Tried, func(i triedInfo) bool { return i.works() && i.Role != unusedPair })
}
