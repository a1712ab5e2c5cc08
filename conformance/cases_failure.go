package conformance

import (
	"errors"

	"github.com/strandmp/strand/btl"
)

var failureCases = []testCase{
	{"peer-dies-idle", "A connection that is cut while idle goes down once, with an error; others stay.", checkDiesIdle, on(ruleNoticed, ruleDownOnce, ruleDownError, ruleHarmless, ruleDiscreet)},
	{"peer-dies-sending", "A peer that dies in the middle of a frame: Drop for what stands half arrived, then Down.", checkDiesSending, on(ruleLanding, ruleNoticed)},
	{"peer-dies-reading", "A peer that dies while the endpoint is busy: Down, and all frames are the sender's again.", checkDiesReading, on(ruleNoticed, ruleDownOnce)},
	{"peer-silent", "A peer falls silent, as one that is stopped: its endpoint can be given up at once, others go on, and when it wakes it learns of that and the two connect anew.", checkSilent, on(ruleNoticed, ruleNoBlock, ruleHarmless, ruleDownError)},
	{"after-death", "After Down an endpoint says Broken or connects anew, and a new one can be made.", checkAfterDeath, on(ruleBroken, ruleNoticed)},
}

// A scene is three ranks. The first is connected to both others. The last is to
// die; the other must not notice.
type scene struct {
	w           *world
	victim      *rank
	there, back *port // from the survivor to the victim
	other, door *port // from the survivor to the third, and back
}

func (t *trial) stage() scene {
	w := t.open(3)
	a, b := w.distinctPair()
	there, back := w.join(a, b)
	other, door := w.join(a, w.ranks[1])
	t.falls(there, back)
	return scene{w, b, there, back, other, door}
}

// kill cuts the victim's connection; the victim is never heard of again.
func (s scene) kill() {
	s.victim.stall()
	s.back.sever()
	s.w.t.mu.Lock()
	defer s.w.t.mu.Unlock()
	s.victim.dead = true
	s.back.excuse()
}

// mourn checks that the survivor has noticed, and the third has not.
func (s scene) mourn() {
	t := s.w.t
	t.await(ruleNoticed, s.there.String()+" to go down because its connection was cut", func() bool { return s.there.downs > 0 })
	checkNamesPeer(t, s.there)
	s.goOn("one connection is cut")
	s.there.r.stall()
	s.there.r.step(20) // time for a second Down
	s.there.r.resume()
	t.check()
}

// goOn checks that the survivor and the third still hear each other.
func (s scene) goOn(though string) {
	s.other.post(s.w.randomSpecs(20, 64<<10)...)
	s.door.post(s.w.randomSpecs(5, 64<<10)...)
	s.w.arrives(ruleHarmless, "frames between others to arrive while "+though)
}

func checkDiesIdle(t *trial) {
	s := t.stage()
	s.kill()
	s.mourn()
}

func checkDiesSending(t *trial) {
	type death struct {
		scene
		open    bool // a frame stood half arrived
		dropped int
	}
	// Some transports notice only after a while, so all deaths are waited for at once.
	deaths, met := make([]death, 6), 0
	for i := range deaths {
		s := &deaths[i]
		s.scene = t.stage()
		t.mu.Lock()
		s.there.onDrop = func(*plot) { s.dropped++ }
		t.mu.Unlock()
		s.w.stallAll()
		before := t.arrivals(s.w)
		s.back.post(s.w.long())
		s.open = s.w.halfway(s.there, before) != nil
		s.kill()
		s.w.ranks[0].resume()
		s.w.ranks[1].resume()
	}
	for i := range deaths {
		s := &deaths[i]
		s.mourn()
		if s.open {
			met++
			if t.holds(func() bool { return s.dropped == 0 && s.there.received.frames == 0 }) {
				t.fail(ruleLanding, "%v: a frame stood half arrived and neither End nor Drop was called", s.there)
			}
		}
		s.w.close()
	}
	if met == 0 {
		t.skip("no frame ever stood half arrived between two polls")
	}
}

func checkDiesReading(t *trial) {
	s := t.stage()
	s.victim.stall()
	s.there.fillUp(s.w.bulk(64 << 10))
	s.there.post(spec{header: 16, size: min(64<<10, s.w.maxFrame())})
	s.kill()
	s.mourn()
}

func checkAfterDeath(t *trial) {
	s := t.stage()
	s.back.sever()
	t.await(ruleNoticed, "both sides to notice that their connection was cut", func() bool {
		return s.there.downs > 0 && s.back.downs > 0
	})
	s.there.post(spec{header: 16, size: 100})
	t.await(ruleBroken, "Send after Down to say Broken, or to connect anew", func() bool {
		return s.there.sawBroken || s.there.up || s.there.downs > 1
	})
	s.there.close()
	s.back.close()
	again, _ := s.w.join(s.there.r, s.victim)
	again.post(s.w.randomSpecs(10, 64<<10)...)
}

// mustBeFailure holds an endpoint whose peer has called Abort to a report of that: one that has said goodbye is
// taken to have left the job, and what it holds goes no other way.
func (t *trial) mustBeFailure(p *port) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if errors.Is(p.downErr, btl.ErrPeerClosed) {
		t.violateLocked(ruleDownError, "%v: the peer has called Abort, and Down says ErrPeerClosed, as after a goodbye: %v", p, p.downErr)
	}
}

func checkSilent(t *trial) {
	for round := range 4 {
		s := t.stage()
		s.victim.stall()
		s.there.fillUp(s.w.bulk(64 << 10))
		s.there.post(s.w.bulk(64 << 10)) // waits in vain
		if round%2 == 0 {
			s.there.abandon()
		} else {
			s.there.close()
		}
		s.goOn("one rank is silent")
		again := func() { s.w.connect(s.there.r, s.victim).post(s.w.randomSpecs(5, 64<<10)...) }
		before := round < 2 // the victim wakes; otherwise it has the end of the old connection to go by
		if before {
			again()
		}
		s.victim.resume()
		t.await(ruleNoticed, s.back.String()+" to learn that its peer has given it up", func() bool { return s.back.downs > 0 })
		if _, aborts := s.there.ep.(btl.Aborter); aborts && round%2 == 0 {
			t.mustBeFailure(s.back)
		}
		if !before {
			again()
		}
		s.w.settle()
		s.w.close()
		t.check()
	}
}
