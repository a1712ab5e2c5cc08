package engine

import (
	"time"

	"github.com/strandmp/strand/btl"
)

// neighbours are the ranks of this host as far as they tell each other on which processors they are. Two that talk and share
// a processor find out at once. And who was interrupted by something else does not take that for company: it
// would move to where its peer is (docs/decisions/0074-who-waits-where.md, 0083-who-computes-where.md).
type neighbours struct {
	modules []btl.Neighbourhood
	here    int            // the processor that the others know this rank to be on, and one more; 0: none
	waits   bool           // they know that it waits there
	others  btl.Processors // where they are
	waiting btl.Processors // where they wait
	unsure  bool           // one of them has been woken, and has not said where it is
	near    bool           // one of them may be on this processor
	due     int64          // when who polls looks again where it is
	met     int64          // when who sends to one of them does
}

// lookEvery is how often who polls looks where it is, by Test and Iprobe or in waits that are over in a moment.
const lookEvery = int64(time.Millisecond)

// polls tells the others where this rank is, which polls. It may go on so for ever, and never wait for long.
func (n *neighbours) polls(now int64) {
	if len(n.modules) == 0 || now < n.due {
		return
	}
	n.due = now + lookEvery
	n.tell(n.waits)
}

// tell tells the others where this rank is, if that is known, and whether it waits there.
func (n *neighbours) tell(waits bool) (cpu int, known bool) {
	cpu, known = processor()
	if known && (n.here != cpu+1 || n.waits != waits) {
		n.say(cpu, waits)
	}
	return cpu, known
}

// settle tells the others where this rank is and whether it waits there, and looks where they do.
func (n *neighbours) settle(waits bool) {
	if len(n.modules) == 0 {
		return
	}
	cpu, known := n.tell(waits)
	if !known {
		return
	}
	n.others, n.waiting, n.unsure = btl.Processors{}, btl.Processors{}, false
	for _, m := range n.modules {
		n.unsure = m.Neighbours(&n.others, &n.waiting) || n.unsure
	}
	n.near = n.unsure || n.others.Has(cpu)
}

// over tells the others that this rank waits no longer. What was said of where it is is good for as long as the system leaves it there, and
// soon wrong if it computes now.
func (n *neighbours) over() {
	if n.waits {
		n.say(n.here-1, false)
	}
}

// shared reports whether one of the others is known to wait on the processor of this rank.
func (n *neighbours) shared() bool { return n.here > 0 && n.waiting.Has(n.here-1) }

// leave tells the others that this rank waits nowhere for now.
func (n *neighbours) leave() {
	if n.here > 0 {
		n.say(-1, false)
	}
	n.near, n.due = false, 0
}

func (n *neighbours) say(cpu int, waits bool) {
	n.here, n.waits = cpu+1, waits
	for _, m := range n.modules {
		m.Settle(cpu, waits)
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
	waits := n.waits
	if company {
		n.settle(waits)
	}
	certain := company && n.shared() && e.company.mayMove(now)
	unsure := n.unsure && now-from < saysSoon
	if !certain && (unsure || !e.company.observe(now, yieldTime)) || engines.Load() != 1 {
		return false
	}
	taken := n.taken(source)
	n.leave() // of two that see each other one moves
	parted := e.company.part(func() { e.move(&taken) })
	n.settle(waits)
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

// meetEvery is how often who sends to ranks that sleep, or wait for long, looks where it is.
const meetEvery = int64(100 * time.Microsecond)

// Meet implements [btl.Meeter].
func (e *Engine) Meet(peer int) {
	if e.move == nil {
		return
	}
	n := &e.nearby
	now := e.poller.now()
	if now < n.met {
		return
	}
	n.met = now + meetEvery
	cpu, known := n.tell(n.waits)
	e.owes = known && cpu == peer && !n.waits // who waits offers it anyway
}
