package wireup

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/strandmp/strand/reach"
)

// Fit returns the addresses that a module is to publish, in their order, and those that are
// left out. If there are more than peers take ([MaxInterfaces], [MaxSize]) those that promise
// most are published.
func Fit(all []reach.Address) (fit, left []reach.Address) {
	order := byPromise(all)
	taken := make([]bool, len(all))
	list := func(which bool) (addrs []reach.Address) {
		for i, a := range all {
			if taken[i] == which {
				addrs = append(addrs, a)
			}
		}
		return addrs
	}
	for count, i := 0, 0; i < len(order) && count < MaxInterfaces; i++ {
		taken[order[i]] = true
		if size(list(true)) > MaxSize-headSize-maxHost {
			taken[order[i]] = false
			continue
		}
		count++
	}
	return list(true), list(false)
}

// size is what the interfaces take of an encoded address.
func size(addrs []reach.Address) int {
	return len((&Address{Interfaces: addrs}).Encode()) - headSize
}

// byPromise lists the numbers of addresses, that of the most promising first.
func byPromise(all []reach.Address) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	promise := promises(all)
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(promise[a], promise[b]) })
	return order
}

// promises returns for each address a key to sort by: the lower, the more the address promises.
// The weightiest reason comes first.
func promises(all []reach.Address) [][]int {
	type nth struct {
		index    int
		v4, link bool
	}
	fastest := 0
	for _, a := range all {
		fastest = max(fastest, a.Speed)
	}
	seen := make(map[nth]int)
	list := make([][]int, len(all))
	for i, a := range all {
		ip := a.Addr()
		key := nth{a.Index, ip.Is4(), ip.IsLinkLocalUnicast()}
		list[i] = []int{
			number(!ip.IsLoopback() || seen[key] > 0), // processes of this host need one loopback address
			number(ip.IsLinkLocalUnicast()),           // of use only where there is no other way
			number(a.Flags&(reach.Tunnel|reach.Enclosed) != 0),
			number(a.Flags&reach.NoCarrier != 0),
			number(lonely(a)),
			seen[key],                 // one address of each interface before the second of any
			-cmp.Or(a.Speed, fastest), // an unknown speed must not lose to a low one
		}
		seen[key]++
	}
	return list
}

// lonely reports whether the subnet has room for one or two hosts only. On a host of containers
// the ends of their links are such.
func lonely(a reach.Address) bool { return a.Prefix.Bits() >= a.Addr().BitLen()-2 }

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// leftOut tells which addresses are not published.
func leftOut(fit, left []reach.Address, where string) error {
	return fmt.Errorf("%d addresses are more than peers can be told of; not used are %s; name those that are wanted with %s",
		len(fit)+len(left), Describe(left), where)
}
