package conformance

import (
	"errors"
	"fmt"
	"strings"

	"github.com/strandmp/strand/btl"
)

var connectCases = []testCase{
	{"connect-lazily", "Connect alone reaches nobody: the peer accepts at the first Send.", checkLazy, on(ruleLazy)},
	{"connect-both", "Two ranks that connect to each other at the same time both succeed, in whichever order it happens.", checkBoth, on(ruleUp, ruleReliable)},
	{"connect-again", "After an endpoint was closed the same two ranks can connect anew.", checkAgain, on(ruleAccept, ruleNoticed)},
	{"connect-late", "A peer that does not progress for a while is connected to when it does.", checkLate, on(ruleReliable, ruleInTime, ruleStaysUp)},
	{"connect-absent", "A peer that is not there: Down, with an error that names it.", checkAbsent, on(ruleNoticed, ruleDownError, ruleBroken)},
	{"connect-silent", "A peer that is there and never answers: Down, when the time limits are over, which are parameters whose names end with timeout.", checkNeverAnswers, on(ruleNoticed, ruleDownError)},
	{"connect-leaving", "A peer that leaves while it is being connected to, and looks at nothing any more: Down.", checkLeaving, on(ruleNoticed)},
	{"connect-given-up", "A peer is let in that has closed its endpoint, or has left, while it connected: who has accepted it learns that nobody is there, and the two can connect anew.", checkGivenUp, on(ruleNoticed, ruleReliable)},
	{"connect-refused", "A host that refuses a peer: the peer's endpoint goes down.", checkRefused, on(ruleNoticed, ruleDownError)},
	{"another-job", "Two worlds share a component and hear nothing of each other; a process of one that connects to the other is refused.", checkAnotherJob, on(ruleProof)},
	{"another-key", "A process that knows the job's secret, and does not have the key of the rank that it says it is, is refused.", checkAnotherKey, on(ruleProof)},
	{"hello", "Hellos of every size up to 4096 bytes reach both sides, before any frame.", checkHello, on(ruleUp, ruleAccept, ruleDiscreet)},
}

func checkLazy(t *trial) {
	w := t.open(2)
	a, b := w.distinctPair()
	there := w.connect(a, b)
	w.stallAll()
	for range 50 {
		w.anyRank().step(1)
	}
	t.mu.Lock()
	accepts, ups := w.accepts, there.ups
	t.mu.Unlock()
	if accepts > 0 || (ups > 0 && !w.attr.Unbreakable) {
		t.fail(ruleLazy, "%v was connected though nothing was sent: %d accepted, Up %d times", there, accepts, ups)
	}
	w.resumeAll()
	there.post(spec{header: 16, size: 8})
	w.settle()
}

func checkBoth(t *trial) {
	for round := range 40 {
		w := t.open(2)
		a, b := w.distinctPair()
		w.stallAll()
		first, second := a, b
		if round%2 == 1 {
			first, second = b, a
		}
		p, q := w.connect(first, second), w.connect(second, first)
		p.post(spec{header: 16, size: t.rng.IntN(200)})
		w.someSteps(min(round, 12))
		q.post(spec{header: 16, size: t.rng.IntN(200)})
		if round%4 < 2 {
			w.stepsUntil(ruleReliable, "both sides' first frames to arrive", func() bool {
				return !w.attr.Reliable || w.book.pending == 0 && len(p.backlog)+len(q.backlog) == 0
			})
		}
		w.resumeAll()
		w.settle()
		p.post(w.randomSpecs(5, 64<<10)...)
		q.post(w.randomSpecs(5, 64<<10)...)
		w.settle()
		w.close()
		t.check()
	}
}

func checkAgain(t *trial) {
	w := t.open(2)
	a, b := w.distinctPair()
	for range 15 {
		there, back := w.join(a, b)
		t.mu.Lock()
		back.mayFall = true
		t.mu.Unlock()
		there.post(w.randomSpecs(5, 64<<10)...)
		w.settle()
		there.close()
		t.await(ruleNoticed, "the peer to notice that an endpoint was closed", func() bool { return back.downs > 0 })
		back.close()
		a, b = b, a
	}
}

func checkLate(t *trial) {
	for round := range 6 {
		w := t.open(2)
		a, b := w.distinctPair()
		b.stall()
		there := w.connect(a, b)
		there.post(w.randomSpecs(3, 64<<10)...)
		a.stall()
		a.step(round * 10)
		a.resume()
		b.resume()
		w.settle()
		w.close()
	}
}

func checkAbsent(t *trial) {
	w := t.open(2)
	a, b := w.distinctPair()
	there := w.connect(a, b)
	t.mu.Lock()
	there.mayFall = true
	t.mu.Unlock()
	b.closeModules()
	there.post(w.randomSpecs(3, 4<<10)...)
	t.await(ruleNoticed, "Down for a peer that is not there", func() bool { return there.downs > 0 })
	checkNamesPeer(t, there)
	there.post(spec{header: 16})
	t.await(ruleNoticed, "a further frame to be refused, or Down again", func() bool {
		return there.sawBroken || there.downs > 1
	})
}

func checkNeverAnswers(t *trial) {
	w := t.openAs(2, variant{hurried: true})
	if w.limit.name == "" {
		t.skip("the transport has no parameter for a time limit: no name ends with timeout")
	}
	a, b := w.distinctPair()
	t.mu.Lock()
	w.onAccept = func(p *port) { p.mayFall = true } // it lets in at last who has given up
	t.mu.Unlock()
	b.stall()
	there := w.connect(a, b)
	t.falls(there)
	there.post(w.randomSpecs(3, 4<<10)...)
	t.await(ruleNoticed, fmt.Sprintf("Down for a peer that does not answer (%s and others are %s)", w.limit.name, brief), func() bool { return there.downs > 0 })
	checkNamesPeer(t, there)
	b.resume()
}

func checkLeaving(t *trial) {
	var left []*port // by a peer that did not answer; waited for together, as some transports take long to see it
	for round := range 6 {
		w := t.open(2)
		a, b := w.distinctPair()
		b.stall()
		there := w.connect(a, b)
		t.falls(there)
		there.post(w.randomSpecs(3, 4<<10)...)
		a.stall()
		a.step(round * 10)
		a.resume()
		b.closeModules()
		left = append(left, there)
	}
	for _, there := range left {
		t.await(ruleNoticed, "Down for a peer that left instead of answering", func() bool { return there.downs > 0 })
	}
}

func checkGivenUp(t *trial) {
	for round := range 12 {
		w := t.open(2)
		a, b := w.distinctPair()
		if round%2 == 1 {
			a, b = b, a
		}
		t.mu.Lock()
		w.onAccept = func(p *port) { p.mayFall = true }
		t.mu.Unlock()
		w.stallAll()
		there := w.connect(a, b)
		there.post(w.randomSpecs(3, 4<<10)...)
		w.someSteps(round)
		leaves := round%3 == 2
		if leaves {
			a.closeModules()
		} else {
			there.close()
		}
		b.step(round % 5) // it may let in a peer that has gone
		w.resumeAll()
		w.abandoned(b, 0)
		if !leaves {
			again := w.connect(a, b)
			again.post(w.randomSpecs(3, 64<<10)...)
			w.settle()
			w.abandoned(b, 1)
		}
		w.close()
		t.check()
	}
}

// abandoned waits until rank b has no more than left endpoints that it has accepted.
func (w *world) abandoned(b *rank, left int) {
	w.t.await(ruleNoticed, fmt.Sprintf("rank %d to notice that a peer which it has accepted had given up", b.id), func() bool {
		n := 0
		for _, p := range w.ports {
			if p.r == b && p.accepted && p.alive() {
				n++
			}
		}
		return n <= left
	})
}

// checkNamesPeer checks what Down said of a connection that failed.
func checkNamesPeer(t *trial, p *port) {
	t.mu.Lock()
	err := p.downErr
	t.mu.Unlock()
	conn, found := errors.AsType[*btl.ConnError](err)
	switch {
	case errors.Is(err, btl.ErrPeerClosed):
		t.fail(ruleDownError, "%v: Down says ErrPeerClosed though there was no orderly end: %v", p, err)
	case found:
		if conn.Rank != p.r.id || conn.Peer != p.peer || conn.Phase == "" || conn.Err == nil {
			t.fail(ruleDownError, "%v: Down's error has Rank %d, Peer %d, Phase %q, Err %v", p, conn.Rank, conn.Peer, conn.Phase, conn.Err)
		}
	case err == nil || !strings.Contains(err.Error(), "rank"):
		t.fail(ruleDownError, "%v: Down's error names no rank: %v", p, err)
	}
}

func checkRefused(t *trial) {
	w := t.open(3)
	a, b := w.distinctPair()
	c := w.ranks[1]
	b.do("refusing", func() { b.host.refuse = errors.New("conformance: this rank accepts nobody") })
	there := w.connect(a, b)
	t.mu.Lock()
	there.mayFall = true
	t.mu.Unlock()
	there.post(w.randomSpecs(3, 4<<10)...)
	t.await(ruleNoticed, "Down for a peer that refuses", func() bool { return there.downs > 0 })
	checkNamesPeer(t, there)
	b.do("accepting", func() { b.host.refuse = nil })
	w.join(c, b)
	w.join(a, c)
}

func checkAnotherJob(t *trial) { intrude(t, func(*world) variant { return variant{} }) }

// Whoever reads the launcher's channel has the secret.
func checkAnotherKey(t *trial) {
	intrude(t, func(ours *world) variant { return variant{secret: ours.secret, keys: "others"} })
}

// intrude has a process of another world, which uses the same component, connect to one of ours.
func intrude(t *trial, another func(ours *world) variant) {
	ours := t.open(3)
	a, b := ours.distinctPair()
	ours.join(a, b)
	v := another(ours)
	v.subject = &ours.subject
	theirs := t.openAs(3, v)
	theirs.join(theirs.ranks[0], theirs.ranks[1])

	// The wrong address: that of the other job's rank of the same number.
	intruder := theirs.ranks[0]
	m, peer, _, _ := theirs.route(intruder.id, b.id)
	peer.Address = ours.peer(b.id, 0).Address
	var paths []btl.Path
	var err error
	intruder.do("Module.Reach", func() { paths, err = m.Reach(peer) })
	if err != nil {
		return // it does not even try
	}
	t.mu.Lock()
	ours.besieged = true
	t.mu.Unlock()
	there := theirs.dial(intruder, m, peer, paths[0])
	t.mu.Lock()
	there.intrudes, there.mayFall = true, true
	t.mu.Unlock()
	there.post(theirs.randomSpecs(3, 4<<10)...)
	t.await(ruleNoticed, "Down for a connection to another world", func() bool { return there.downs > 0 })
}

func checkHello(t *trial) {
	for _, sizes := range [][2]int{{0, 0}, {1, 4096}, {4096, 1}, {4096, 4096}, {0, 1000}, {1000, 0}} {
		w := t.openAs(2, variant{hello: func(rank int) int { return sizes[rank] }})
		w.join(w.pair())
		w.settle()
		w.close()
	}
}
