package engine

import (
	"time"

	"github.com/strandmp/strand/btl"
)

// neighbours are the ranks of this host as far as they tell each other on which processors they wait. Two that talk and share
// a processor find out at once. And who was interrupted by something else does not take that for company: it
// would move to where its peer is (docs/decisions/0074-who-waits-where.md).
type neighbours struct {
	modules []btl.Neighbourhood
	here    int            // the processor that the others know this rank to wait on, and one more; 0: none
	others  btl.Processors // where they wait
	unsure  bool           // one of them has been woken, and has not said where it is
	near    bool           // one of them may be on this processor
	due     int64          // when who polls looks again where it is
}

// lookEvery is how often who polls looks where it is, by Test and Iprobe or in waits that are over in a moment.
const lookEvery = int64(time.Millisecond)

// polls tells the others where this rank is, which polls. It may go on so for ever, and never wait for long.
func (n *neighbours) polls(now int64) {
	if len(n.modules) == 0 || now < n.due {
		return
	}
	n.due = now + lookEvery
	n.tell()
}

// tell tells the others where this rank is, if that is known.
func (n *neighbours) tell() (cpu int, known bool) {
	cpu, known = processor()
	if known && n.here != cpu+1 {
		n.say(cpu)
	}
	return cpu, known
}

// settle tells the others where this rank waits, and looks where they do.
func (n *neighbours) settle() {
	if len(n.modules) == 0 {
		return
	}
	cpu, known := n.tell()
	if !known {
		return
	}
	n.others, n.unsure = btl.Processors{}, false
	for _, m := range n.modules {
		n.unsure = m.Neighbours(&n.others) || n.unsure
	}
	n.near = n.unsure || n.others.Has(cpu)
}

// shared reports whether one of the others is known to wait on the processor of this rank.
func (n *neighbours) shared() bool { return n.here > 0 && n.others.Has(n.here-1) }

// leave tells the others that this rank waits nowhere for now.
func (n *neighbours) leave() {
	if n.here > 0 {
		n.say(-1)
	}
	n.near, n.due = false, 0
}

func (n *neighbours) say(cpu int) {
	n.here = cpu + 1
	for _, m := range n.modules {
		m.Settle(cpu)
	}
}

// saysSoon is how long after a rank has been woken, or has begun to move, it mostly has said where it is. One that has not, since it works
// for long or was stopped, is waited for no longer.
const saysSoon = int64(time.Millisecond)

// keptApart notes a yield of the waiter's, which spins since from, and reports whether the thread has moved away from whoever has run meanwhile.
// Where others tell where they are, only that counts.
func (e *Engine) keptApart(from, now, yieldTime int64, source btl.Poller) bool {
	if e.move == nil {
		return false
	}
	n, company := &e.nearby, yieldTime > longYield
	if company {
		n.settle()
	}
	certain := company && n.shared() && e.company.mayMove(now)
	unsure := n.unsure && now-from < saysSoon
	if !certain && (unsure || !e.company.observe(now, yieldTime)) || engines.Load() != 1 {
		return false
	}
	taken := n.taken(source)
	n.leave() // of two that see each other one moves
	parted := e.company.part(func() { e.move(&taken) })
	n.settle()
	return parted
}

// taken are the processors of others, as far as they are known, that of the peer among them from whom something is expected.
func (n *neighbours) taken(source btl.Poller) btl.Processors {
	taken := n.others
	if peer, ok := source.(btl.Neighbour); ok {
		if cpu, known := peer.LastOn(); known {
			taken.Add(cpu)
		}
	}
	return taken
}
