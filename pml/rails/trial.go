package rails

import "time"

// A connection that works for short frames only, or every now and then, is worse than none: its
// handshake succeeds, it gets messages, and they stand still. So a rail that broke with frames
// under way is on trial first: it carries probes, which are as long as those frames and of no
// value. A rail that broke with nothing under way is on trial too, since then the other side
// has found it bad. There is no trial where there is no other rail.

// trial is how far a rail has come that has to prove itself.
type trial struct {
	lost   int // bytes of the longest frame that it lost when it broke; 0: it never did
	passed int // probes that were answered
	failed int // trials in a row

	spent time.Duration // on this one, as of the look at seen
	seen  int64
	asked time.Duration // how long it had lasted when the last probe was to go
}

// begin notes that a trial begins, if there is to be one.
func (t *trial) begin(now int64) { t.passed, t.spent, t.seen, t.asked = 0, 0, now, 0 }

// lasts is how long the trial has lasted. A look counts no more of that than half of pml_rail_timeout: this process may have
// been stopped, and has not looked at what came meanwhile.
func (t *trial) lasts(e Env) time.Duration {
	t.spent += min(time.Duration(e.Now-t.seen), e.RailTimeout/2)
	t.seen = e.Now
	return t.spent
}

const (
	// probes is how many have to be answered: one may be lucky.
	probes = 3
	// LeastProbe and MostProbe bound their length: several packets, and no more than
	// the longest that any network carries.
	LeastProbe = 16 << 10
	MostProbe  = 64 << 10
	// mostPatience bounds how often the time for a trial doubles. It doubles with each trial in
	// a row, for slow networks.
	mostPatience = 5
)

// Loses notes that a frame of so many bytes was under way when the rail broke.
func (r *Rail) Loses(size int) { r.trial.lost = max(r.trial.lost, size) }

// ProbeSize is how long a probe has to be.
func (r *Rail) ProbeSize() int { return min(max(r.trial.lost, LeastProbe), MostProbe) }

// patience is how long the trial may take up to the next answer. Each probe of the first trial in a row may take
// pml_rail_timeout: over a far way one alone takes two round trips and more.
func (t *trial) patience(railTimeout time.Duration) time.Duration {
	return time.Duration(1+t.passed) * railTimeout << min(t.failed, mostPatience)
}

// Probed notes that a probe was answered, and reports whether another one is to be sent.
func (p *Peer) Probed(r *Rail, e Env) (more bool) {
	if r.State != Trial {
		return false
	}
	lasted := r.trial.lasts(e)
	r.trip.answered(lasted-r.trial.asked, r.trial.passed == 0)
	r.trial.asked = lasted
	if r.trial.passed++; r.trial.passed < probes {
		return true
	}
	r.trial, r.pause = trial{}, 0
	r.State = Resting
	p.settle()
	return false
}
