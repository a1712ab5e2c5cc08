package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// A trial is one run of one case.
type trial struct {
	factory Factory
	opts    options
	rng     *rand.Rand // of the case's own goroutine

	// mu guards all that the case and the ranks share: what was sent and what
	// arrived, the state of ports, the violations. Changed is for those who wait.
	mu         sync.Mutex
	changed    *sync.Cond
	violations []Violation
	expired    bool
	awaiting   string
	wanted     func() bool // what the case waits for, while it does
	events     uint64      // counts what happens, for the watchdog
	worlds     []*world
	ranks      map[*rank]struct{} // of the worlds that are open, for the sentry
	noise      *rand.Rand         // of the up-calls
}

// maxViolations keeps one mistake from filling the report.
const maxViolations = 6

// An abort unwinds a case: a rule was broken, or it does not apply.
type abort struct{ reason string }

func newTrial(factory Factory, o options, name string) *trial {
	h := o.seed
	for _, c := range name {
		h = h*1099511628211 + uint64(c)
	}
	t := &trial{
		factory: factory, opts: o, ranks: map[*rank]struct{}{},
		rng:   rand.New(rand.NewPCG(h, 1)),
		noise: rand.New(rand.NewPCG(h, 2)),
	}
	t.changed = sync.NewCond(&t.mu)
	return t
}

// runCase runs one case under its watchdog.
func runCase(ctx context.Context, factory Factory, c testCase, o options) Result {
	started := time.Now()
	t := newTrial(factory, o, c.name)
	result := Result{Case: c.name, About: c.about, Rules: c.ruleNames(), Seed: o.seed}

	dog := t.watch()
	defer dog.stop()
	defer t.sentinel()()
	defer context.AfterFunc(ctx, t.expire)()

	done := make(chan string, 1)
	go func() { done <- t.play(c) }()
	select {
	case result.Reason = <-done:
	case <-dog.overdue:
		t.hang(ruleNoBlock, t.whereabouts())
	}
	t.mu.Lock()
	result.Violations = append(result.Violations, t.violations...)
	t.mu.Unlock()
	switch {
	case len(result.Violations) > 0:
		result.Status, result.Reason = Failed, ""
	case result.Reason != "":
		result.Status = NotApplicable
	}
	result.Duration = time.Since(started)
	return result
}

// play runs the case, closes what it opened and looks for what was left behind.
// It returns the reason if the case does not apply.
func (t *trial) play(c testCase) string {
	before := takeInventory()
	reason := t.guarded(func() { c.run(t) })
	if reason == "" && !t.failed() {
		reason = t.guarded(t.finish)
	}
	t.guarded(t.hearReasons)
	t.guarded(t.demolish)
	if !t.failed() {
		t.guarded(func() { before.compare(t) })
	}
	return reason
}

// guarded runs f and catches panics: the case's own aborts, and the transport's.
func (t *trial) guarded(f func()) (reason string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case abort:
			reason = p.reason
		default:
			t.violate(ruleNoPanic, "panic: %v\n%s", p, debug.Stack())
		}
	}()
	f()
	return ""
}

// violate notes that a rule was broken. The case ends at its next wait.
func (t *trial) violate(r Rule, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.violateLocked(r, format, args...)
}

func (t *trial) violateLocked(r Rule, format string, args ...any) {
	if len(t.violations) < maxViolations {
		t.violations = append(t.violations, Violation{Rule: r.Name, Text: r.Text, Detail: fmt.Sprintf(format, args...)})
	}
	t.tell()
}

// hang notes that something did not come to an end, with all stacks.
func (t *trial) hang(r Rule, detail string) {
	stacks := make([]byte, 1<<18)
	stacks = stacks[:runtime.Stack(stacks, true)]
	t.mu.Lock()
	defer t.mu.Unlock()
	t.violateLocked(r, "%s", detail)
	t.violations[len(t.violations)-1].Stacks = string(stacks)
}

func (t *trial) failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.violations) > 0
}

// check ends the case if a rule was broken already.
func (t *trial) check() {
	if t.failed() {
		panic(abort{})
	}
}

// fail notes a violation and ends the case.
func (t *trial) fail(r Rule, format string, args ...any) {
	t.violate(r, format, args...)
	panic(abort{})
}

// skip ends a case that does not apply.
func (t *trial) skip(reason string) { panic(abort{reason}) }

// await waits until the condition, which is evaluated under mu, holds. If that
// takes longer than the watchdog allows the rule is broken.
func (t *trial) await(r Rule, what string, cond func() bool) {
	t.mu.Lock()
	t.awaiting = what
	for !cond() {
		if len(t.violations) > 0 {
			t.mu.Unlock()
			panic(abort{})
		}
		if t.expired {
			t.mu.Unlock()
			t.hang(r, t.inVain(what))
			panic(abort{})
		}
		t.wanted = cond
		t.changed.Wait()
	}
	t.awaiting = ""
	bad := len(t.violations) > 0
	t.mu.Unlock()
	if bad {
		panic(abort{})
	}
}

// tell wakes the case if what it waits for has come about, or never will. The case could
// look itself, but that would cost a switch of goroutines for each of thousands of frames.
// Mu is held.
func (t *trial) tell() {
	if t.wanted != nil && (t.expired || len(t.violations) > 0 || t.wanted()) {
		t.wanted = nil
		t.changed.Signal()
	}
}

// patience is await for a case that turns the ranks itself. The case calls it each
// time that the condition does not hold. If that lasts too long patience ends the case.
func (t *trial) patience(r Rule, what string) {
	t.check()
	t.mu.Lock()
	expired := t.expired
	t.mu.Unlock()
	if expired {
		t.hang(r, t.inVain(what))
		panic(abort{})
	}
	runtime.Gosched()
}

// inVain says what a case has waited for, and how everything stands.
func (t *trial) inVain(what string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return "waited in vain for: " + what + t.everybody()
}

// whereabouts says what everybody is doing, for a hang.
func (t *trial) whereabouts() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := "nothing under way"
	if t.awaiting != "" {
		s = "awaiting " + t.awaiting
	}
	return s + t.everybody()
}

// everybody says what is missing, and what ranks and ports are doing. Mu is held.
func (t *trial) everybody() (s string) {
	for _, w := range t.worlds {
		s += w.book.missing()
		for _, r := range w.ranks {
			if call := r.call.Load(); call != nil {
				s += fmt.Sprintf("; rank %d is in %s", r.id, *call)
			}
		}
		for _, p := range w.ports {
			s += p.status()
		}
	}
	return s
}

// finish ends a case that went well: all that is under way arrives, then the
// worlds are closed.
func (t *trial) finish() {
	for _, w := range t.worlds {
		if !w.closed {
			w.settle()
			w.close()
		}
	}
}

// hearReasons has endpoints say Down that have said Broken. Send can give no reason, Down does, and it comes
// with a later poll, which a case that has failed does not wait for.
func (t *trial) hearReasons() {
	if !t.failed() {
		return
	}
	for _, p := range t.silentlyBroken() {
		p.r.step(3)
	}
}

// silentlyBroken are the endpoints that have said Broken and not Down, unless the case has brought it about.
func (t *trial) silentlyBroken() (ports []*port) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.worlds {
		for _, p := range w.ports {
			if p.sawBroken && p.downs == 0 && !p.closed && !p.mayFall {
				ports = append(ports, p)
			}
		}
	}
	return ports
}

// demolish takes down what a failed case has left.
func (t *trial) demolish() {
	for _, w := range t.worlds {
		if !w.closed {
			w.close()
		}
	}
}
