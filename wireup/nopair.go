package wireup

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/strandmp/strand/reach"
)

// ErrNoPair is the cause of every error that no pair of addresses works.
var ErrNoPair = errors.New("no address of ours leads to one of the peer's")

// noPair says why no pair of addresses works, and what to change. It lists the addresses of both
// sides and the reasons, each once with an example. Prefix is that of the transport's parameters;
// policy is the name of the policy that has judged.
func noPair(result reach.Result, policy, prefix string) error {
	others := slices.DeleteFunc(reach.PolicyNames(), func(name string) bool { return name == policy })
	var b strings.Builder
	fmt.Fprintf(&b, "by the policy %q: choose other networks with %s or %s, or judge by another policy with %sreach (%s)",
		policy, prefix+include, prefix+exclude, prefix, strings.Join(others, ", "))
	ours, theirs := sidesOf(result.Rejected)
	fmt.Fprintf(&b, "\n  ours: %s\n  the peer's: %s", Describe(ours), Describe(theirs))
	for _, side := range []struct {
		whose string
		addrs []reach.Address
	}{{"ours", ours}, {"the peer's", theirs}} {
		if !slices.ContainsFunc(side.addrs, func(a reach.Address) bool { return !a.Addr().IsLoopback() }) {
			fmt.Fprintf(&b, "\n  %s are the loopback's alone: is another interface down, or was its IPv6 address still being checked when the program started (ip addr)?", side.whose)
		}
	}
	b.WriteString(reasons(result.Rejected))
	b.WriteString("\nstrand reach --try tells of every pair, and tries them")
	return fmt.Errorf("%w %s", ErrNoPair, b.String())
}

// sidesOf lists the addresses of pairs, each once.
func sidesOf(pairs []reach.Pair) (ours, theirs []reach.Address) {
	for _, p := range pairs {
		ours, theirs = append(ours, p.Local), append(theirs, p.Remote)
	}
	for _, side := range []*[]reach.Address{&ours, &theirs} {
		slices.SortFunc(*side, func(a, b reach.Address) int {
			return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Interface, b.Interface), a.Addr().Compare(b.Addr()))
		})
		*side = slices.CompactFunc(*side, func(a, b reach.Address) bool { return a.Prefix == b.Prefix && a.Interface == b.Interface })
	}
	return ours, theirs
}

// reasons lists why pairs do not work, the most frequent first.
func reasons(pairs []reach.Pair) string {
	const most = 8
	type reason struct {
		example reach.Pair
		count   int
	}
	var all []*reason
	known := make(map[string]*reason)
	for _, p := range pairs {
		r := known[p.Why]
		if r == nil {
			r = &reason{example: p}
			known[p.Why], all = r, append(all, r)
		}
		r.count++
	}
	slices.SortStableFunc(all, func(a, b *reason) int { return cmp.Compare(b.count, a.count) })
	var b strings.Builder
	for _, r := range all[:min(len(all), most)] {
		what := fmt.Sprintf("%d pairs, such as", r.count)
		if r.count == 1 {
			what = "1 pair,"
		}
		fmt.Fprintf(&b, "\n  %s %v: %s", what, r.example, r.example.Why)
	}
	if len(all) > most {
		fmt.Fprintf(&b, "\n  and %d other reasons", len(all)-most)
	}
	return b.String()
}
