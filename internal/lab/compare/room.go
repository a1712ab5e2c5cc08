package compare

import (
	"fmt"

	"github.com/strandmp/strand/internal/machine"
)

// What a plan takes, in bytes, as measured, rounded up.
const (
	rankBytes    = 40 << 20  // of a rank, without its messages
	networkBytes = 128 << 20 // rings, and frames on their way
	entryBytes   = 64        // of a message that may wait, in the tables of its workload
)

// CheckRoom refuses a plan that this host has no memory, or no namespaces, for. Both are
// estimates.
func (p *Plan) CheckRoom(emulated bool) error {
	for i := range p.Tasks {
		t := &p.Tasks[i]
		ranks := t.ranks(p.Ranks)
		need := uint64(ranks)*(rankBytes+t.messageBytes()) + uint64(p.mostNetworks())*networkBytes
		if free, known := machine.FreeMemory(); known && need > free {
			return fmt.Errorf("%d ranks of workload %s, messages of %d bytes, need about %s of memory: %s are free here; want fewer --ranks or smaller --sizes",
				ranks, t.Spec.Name, number(t, one), megabytes(need), megabytes(free))
		}
	}
	if !emulated {
		return nil
	}
	need := uint64(p.Ranks + spareNamespaces + p.mostNetworks())
	if limit, known := machine.Number("/proc/sys/user/max_net_namespaces"); known && limit > 0 && need > limit {
		return fmt.Errorf("--ranks %d: that takes about %d network namespaces, this user may have %d: want fewer ranks, or, as the superuser, sysctl -w user.max_net_namespaces=%d",
			p.Ranks, need, limit, 4*need)
	}
	return nil
}

// spareNamespaces is how many network namespaces there must be beside those of ranks and
// switches: the comparison has its own.
const spareNamespaces = 1

// messageBytes is the most that a rank holds of messages at a time, in bytes.
func (t *Task) messageBytes() uint64 {
	buffers := uint64(2) // one that is sent, one that is received
	entries := uint64(0)
	switch t.Spec.Name {
	case "farm":
		asked := number(t, "fanout") * number(t, "outstanding")
		buffers, entries = buffers+asked, 2*asked // the manager has as many for each worker
	case "burst":
		entries = 2 * number(t, "neighbours") * number(t, "messages")
		buffers += entries
	case "hol":
		buffers, entries = buffers+number(t, "tags"), number(t, "messages") // all of which may wait, where they come faster than they go
	}
	return number(t, one)*buffers + entryBytes*entries
}

// number returns a parameter, 1 if there is none.
func number(t *Task, name string) uint64 {
	n, _ := t.Params[name].(float64)
	return uint64(max(n, 1))
}

func megabytes(n uint64) string { return fmt.Sprintf("%d MB", n>>20) }
