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
package topology

import (
	"fmt"
	"slices"

	"github.com/strandmp/strand/internal/emulate"
)

// A Topology is a network as described.
type Topology struct {
	Hosts []string
	NICs  []emulate.NIC // by host
	MTU   int
	Seed  uint64

	paths []emulate.Path // from × hosts + to
}

// Path is the way from one host to another, by their numbers.
func (t *Topology) Path(from, to int) emulate.Path { return t.paths[from*len(t.Hosts)+to] }

// Uniform returns the link that all have, if they have the same.
func (t *Topology) Uniform() (emulate.Link, bool) {
	var first *emulate.Path
	for from := range t.Hosts {
		for to := range t.Hosts {
			p := t.Path(from, to)
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
	for _, nic := range t.NICs {
		if nic != t.NICs[0] {
			return emulate.Link{}, false
		}
	}
	return emulate.Link{NIC: t.NICs[0], Path: *first}, true
}

// host is a host's number.
func (t *Topology) host(name string) (int, error) {
	if i := slices.Index(t.Hosts, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("there is no host %q: want one of %v", name, t.Hosts)
}
