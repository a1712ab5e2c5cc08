package sm

import (
	"time"

	"github.com/strandmp/strand/btl"
)

// Who writes a record looks then whether the peer sleeps. Who is about to sleep says so, and looks then for records. If either looked before the other
// could see its store, both would be wrong, and nobody would ring. The sleeper waits for its store; the writer need not (announce), if
// the sleeper looks again after a time that no processor keeps a store to itself (Morrison and Afek, Temporally Bounding TSO for
// Fence-Free Asymmetric Synchronization, ASPLOS 2015). A rank that was woken to look says anew that it sleeps, and so has to look
// once more, but after a longer time: what it may miss waits no longer than eight times what it has slept before, and a second at the most.
// Where ranks outnumber the processors they sleep so often that the writer waits instead.

const (
	// firstAgain is when it looks again for the first time since a record has come. A processor keeps a store for some
	// microseconds at the most, the paper says.
	firstAgain = time.Millisecond
	// laterAgain is how many times longer it sleeps each next time, up to mostAgain.
	laterAgain = 8
	mostAgain  = time.Second
)

// again has a rank that sleeps look again.
type again struct {
	timer  btl.Timer
	set    bool
	said   int64         // when the rank last said that it sleeps
	pause  time.Duration // until it looks again
	before uint64        // records that had come when it last said so
}

// looksAgain reports whether this rank does so.
func (m *module) looksAgain() bool { return inOrder && !m.crowded }

// lookAgain is called when the rank has said that it sleeps.
func (m *module) lookAgain() {
	a := &m.again
	came := uint64(0)
	for _, p := range m.pipes {
		came += p.in.count
	}
	if came != a.before || a.pause == 0 {
		a.before, a.pause = came, firstAgain
	}
	a.said = m.loop.Now()
	if !a.set {
		a.reset(m, a.pause)
	}
}

func (a *again) reset(m *module, d time.Duration) {
	a.set = true
	if t, ok := a.timer.(btl.Rearmer); ok {
		t.Reset(d)
	} else {
		a.timer = m.loop.After(d, m.againDue)
	}
}

// againDue is called when the time has passed. The poll that calls it looks at all rings.
func (m *module) againDue() {
	a := &m.again
	a.set = false
	if left := a.pause - time.Duration(m.loop.Now()-a.said); left > 0 {
		a.reset(m, left) // it has said so anew since then
		return
	}
	a.pause = min(laterAgain*a.pause, mostAgain)
}

// stop ends it.
func (a *again) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
