package conformance

import (
	"bytes"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
)

// Movers work without the rank's lock. In these cases something else happens to what they use at
// the very moment.

var moveCases = []testCase{
	{"move-revoke", "A landing is revoked while a Mover reads into it without the lock, and its memory is overwritten at once: the rest does not touch it, and the frame still ends.", checkMoveRevoke, on(ruleRevoke, ruleGuard, ruleReliable)},
	{"move-recall", "Frames are recalled while a Mover sends them without the lock, and their memory is overwritten at once: what was begun, and what follows, arrives as it was.", checkMoveRecall, on(ruleRecall, ruleStaysUp)},
	{"move-close", "An endpoint is closed or aborted, or its connection cut, at either end, while a Mover moves: no up-call comes any more, and nothing of the memory is used.", checkMoveClose, on(ruleClosed, ruleRevoke, ruleClean, ruleLent)},
}

// during has f done at the next move of the rank, and reports whether that came before all that was
// sent has arrived and was released.
func (r *rank) during(f func(), send func()) (met bool) {
	i := r.interrupt(f)
	send()
	r.w.settle()
	return r.met(i)
}

func checkMoveRevoke(t *trial) {
	met := 0
	for _, production := range []bool{false, true} {
		w := t.openAs(2, variant{production: production})
		w.needReliable()
		there, back := w.join(w.pair())
		t.mu.Lock()
		back.lay = func(int) plotKind { return plotKind(t.noise.IntN(2)) }
		t.mu.Unlock()
		for range 8 {
			if back.r.during(back.revokeAll, func() { there.post(w.long(), spec{header: 16, size: 100}) }) {
				met++
			}
		}
		w.close()
		t.check()
	}
	if met == 0 {
		t.skip("the module reads nothing without the lock")
	}
}

// revokeAll revokes all landings of the port.
func (p *port) revokeAll() {
	t := p.w.t
	t.mu.Lock()
	var all []*plot
	for _, pl := range p.landings {
		all = append(all, pl)
	}
	t.mu.Unlock()
	for _, pl := range all {
		p.revoke(pl)
	}
}

func checkMoveRecall(t *trial) {
	met := 0
	for _, production := range []bool{false, true} {
		w := t.openAs(2, variant{production: production})
		there, _ := w.join(w.pair())
		rec, ok := there.ep.(btl.Recaller)
		if !ok {
			t.skip("the endpoint is no Recaller; its host closes it instead")
		}
		for range 8 {
			if there.r.during(func() { there.recall(rec) }, func() {
				there.post(spec{header: 16, size: min(1<<20, w.maxFrame())}, spec{header: 20, size: 100}, spec{header: 16, size: min(300_000, w.maxFrame())})
			}) {
				met++
			}
			there.post(w.randomSpecs(3, 64<<10)...)
			w.settle()
		}
		w.close()
		t.check()
	}
	if met == 0 {
		t.skip("the module sends nothing without the lock")
	}
}

func checkMoveClose(t *trial) {
	met := 0
	for round := range 12 {
		w := t.openAs(2, variant{production: round%2 == 1})
		a, b := w.pair()
		there, back := w.join(a, b)
		t.falls(there, back)
		victim := []*port{there, back}[round/2%2]
		end := []func(){victim.close, victim.abandon, victim.sever}[round%3]
		var squatters []squatter
		i := victim.r.interrupt(func() {
			end()
			squatters = squat()
		})
		there.post(w.long(), w.long())
		if a != b {
			back.post(w.long())
		}
		w.settle()
		if victim.r.met(i) {
			met++
		}
		w.close()
		for _, s := range squatters {
			s.leave(t)
		}
		t.check()
	}
	if met == 0 {
		t.skip("the module moves nothing without the lock")
	}
}

// A squatter is a connection whose descriptors have the numbers of some that were closed just now.
// Whoever uses a number after its close reads what is in the squatter, or writes to it.
type squatter struct{ fds [2]int }

var toldSquatter = []byte("what the other end has said")

func squat() (all []squatter) {
	for range 3 {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return all
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			_ = unix.SetNonblock(fd, true)
			_, _ = unix.Write(fd, toldSquatter)
		}
		all = append(all, squatter{fds})
	}
	return all
}

// leave complains if anybody else has read or written, and closes the descriptors.
func (s squatter) leave(t *trial) {
	for _, fd := range s.fds {
		b := make([]byte, 2*len(toldSquatter))
		n, _ := unix.Read(fd, b)
		if !bytes.Equal(b[:max(n, 0)], toldSquatter) {
			t.violate(ruleClean, "descriptor %d was used after it was closed: a call without the lock still had it", fd)
		}
		unix.Close(fd)
	}
}
