// Package topology reads descriptions of networks: which hosts there are, how fast they
// send, and what the ways between them are like.
//
//	hosts: [a, b, c]        # or a number of them, which are then host0, host1, …
//	rate: 1gbit             # of every host, in each direction; unlimited if left out
//	queue: 1000             # frames, or bytes with a unit: 256K
//	delay: 5ms              # from any host to any other
//	loss: 1%                # or 1%/4 for four frames in a row
//	between:                # ways that differ, and in what
//	  - {hosts: [a, c], delay: 40ms}
//	  - {hosts: [c, a], loss: 5%, oneway: true}
//	each:                   # hosts that differ
//	  c: {rate: 100mbit}
//	mtu: 1500
//	seed: 1                 # of all chances
//
// Ways have besides jitter, reorder (a share), reorder_by (a time), duplicate and corrupt
// (shares): see package emulate.
//
// Hosts may have several networks, each with an interface of its own on the hosts that it
// joins. What is not said of one is as it is said of all:
//
//	hosts: [a, b, c]
//	rate: 1gbit
//	networks:
//	  fast: {delay: 100us, hosts: [a, b]}       # all hosts if left out
//	  slow:
//	    rate: 100mbit
//	    down: [{at: 2s, for: 1s}]               # nothing gets through, since the network's start
//	    every: 10s                              # and again; once if left out
package topology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// A Topology is hosts and the networks between them, as described.
type Topology struct {
	Hosts    []string
	MTU      int
	Seed     uint64
	Networks []*Network // one without a name, or those that were named
}

// A Network is one of the networks.
type Network struct {
	Name string
	On   []int         // numbers of the hosts that it joins
	NICs []emulate.NIC // by host, of all hosts
	Down emulate.Schedule

	paths []emulate.Path // from × all hosts + to
}

// Path is the way from one host to another, by their numbers.
func (n *Network) Path(from, to int) emulate.Path { return n.paths[from*len(n.NICs)+to] }

// Uniform returns the link that all have, if they have the same.
func (n *Network) Uniform() (emulate.Link, bool) {
	var first *emulate.Path
	for _, from := range n.On {
		for _, to := range n.On {
			p := n.Path(from, to)
			switch {
			case from == to:
			case first == nil:
				first = &p
			case p != *first:
				return emulate.Link{}, false
			}
		}
	}
	if first == nil {
		first = &emulate.Path{}
	}
	nic := n.NICs[n.On[0]]
	for _, host := range n.On {
		if n.NICs[host] != nic {
			return emulate.Link{}, false
		}
	}
	return emulate.Link{NIC: nic, Path: *first}, true
}

// host is a host's number.
func (t *Topology) host(name string) (int, error) {
	if i := slices.Index(t.Hosts, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("there is no host %q: want one of %s", name, strings.Join(t.Hosts, ", "))
}
