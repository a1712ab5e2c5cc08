//go:build linux

package network

import (
	"errors"
	"fmt"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// A Backend is what emulates the links.
type Backend string

// Backends.
const (
	// Automatic is Netem where it can do what is asked for, else UserSpace.
	Automatic Backend = ""
	// UserSpace is package wire: it does all that package emulate has, replayable by
	// its seed, and counts each path.
	UserSpace Backend = "user-space"
	// Netem is the kernel's own netem, with token buckets for queues that are bounded in bytes.
	// It has independent loss, delay, duplicates, rates and queues, the same between all hosts,
	// and can not be replayed. Sender and receiver each take a frame's time, one after the other;
	// in UserSpace a frame goes on as it comes.
	Netem Backend = "netem"
)

// A joint is a backend at work. It joins the near ends of the hosts' cables, which
// are in the network's core.
type joint interface {
	// stop ends the joint and fills in what it has seen of the network. It is called once, while
	// the cables are still there.
	stop(*NetReport) error
}

// A cable is one end of a pair of veths between a host and a switch.
type cable struct {
	name  string
	index int
}

// A NetemError says why the kernel can not emulate a network.
type NetemError struct{ Reason string }

func (e *NetemError) Error() string {
	return "netem can not emulate this network: " + e.Reason + " (the backend in user space can)"
}

// choose decides on the backend of all networks. why says why that is not netem.
func (c Config) choose(f *fabric) (b Backend, why string, err error) {
	switch c.Backend {
	case UserSpace:
		return UserSpace, "it was asked for", nil
	case Automatic, Netem:
	default:
		return "", "", fmt.Errorf("backend %q: want %q or %q, or none for whichever can", c.Backend, Netem, UserSpace)
	}
	for i := 0; i < len(c.Nets) && err == nil; i++ {
		err = c.Nets[i].explain(c.Nets[i].expressible())
	}
	if err == nil {
		err = netemWorks(f.core, f.kernel, f.net.Link.NIC)
	}
	cannot, isNetem := errors.AsType[*NetemError](err)
	switch {
	case err == nil:
		return Netem, "", nil
	case isNetem && c.Backend == Automatic:
		return UserSpace, cannot.Reason, nil
	}
	return "", "", err
}

// leastOdd is the least rate that may be rounded to whole bytes a second, which changes it by
// less than a thousandth. Below 8 bit/s nothing would be left of a rate, and netem takes 0 for no
// limit.
const leastOdd = 8 * emulate.Kbit

// expressible returns an error for what netem does not do, or does in another way.
func (n Net) expressible() error {
	p, q, r := n.Link.Path, n.Link.Queue, n.Link.Rate
	no := func(what string) error { return &NetemError{what} }
	switch {
	case n.Between != nil:
		return no("paths differ between hosts")
	case n.NICs != nil:
		return no("rates or queues differ between hosts")
	case p.Loss.Worsens > 0:
		return no("loss in bursts")
	case p.Jitter > 0:
		return no("jitter that keeps frames in order")
	case p.Reorder > 0:
		return no("reordering by a given time")
	case p.Corrupt > 0:
		return no("damage that spares the Ethernet header")
	case q.Frames > 0 && q.Bytes > 0:
		return no("a queue with two bounds")
	case r%8 != 0 && r < leastOdd:
		return no(fmt.Sprintf("a rate of %v: it counts whole bytes a second", r))
	}
	return nil
}
