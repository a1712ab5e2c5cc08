package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A sentry looks now and then whether a call of a rank waits for something. The watchdog sees only what
// waits for good; a write that blocks until the peer has read comes to its end each time, and holds up the
// whole process meanwhile. A call that only lacks the processor is in no such state, however long it takes.
type sentry struct {
	t      *trial
	over   chan struct{}
	ended  chan struct{}
	calls  map[*rank]*string // what each rank was in, at the last look
	parked map[string]bool   // goroutines that waited within a call, at the last look
}

// glances is the time between two looks. Who waits at two in a row has waited for as long. It is long enough for who hands something
// to a goroutine that lacks the processor: that is a fault, but not one to be found on slow machines alone.
const glances = 50 * time.Millisecond

// rests is for how many times as long as a look took there is none. A look stops the whole process, and takes longest where there are
// hundreds of goroutines and one slow processor. There calls last long too: looks at each glance would slow them further, until time limits are over.
const rests = 9

// ours are calls of the subject's hooks, which are tests' own and may wait.
var ours = []string{severing, injecting, findingSockets}

// sentinel sets up a sentry, until the function that is returned.
func (t *trial) sentinel() (stop func()) {
	s := &sentry{t: t, over: make(chan struct{}), ended: make(chan struct{}), calls: map[*rank]*string{}}
	go s.watch()
	return func() {
		close(s.over)
		<-s.ended
	}
}

func (s *sentry) watch() {
	defer close(s.ended)
	tick := time.NewTicker(glances)
	defer tick.Stop()
	for {
		select {
		case <-s.over:
			return
		case <-tick.C:
			began := time.Now()
			s.look()
			tick.Reset(max(glances, rests*time.Since(began)))
		}
	}
}

// look asks for all stacks, which is dear, only if a call has lasted since the last look.
func (s *sentry) look() {
	marks := s.lasting()
	if len(marks) == 0 {
		s.parked = nil
		return
	}
	parked := map[string]bool{}
	for id, stack := range listGoroutines() {
		state := waits(stack, marks)
		if state == "" {
			continue
		}
		if s.parked[id] {
			s.t.violate(ruleNoBlock, "a call has waited for more than %v, in state %q:\n%s", glances, state, stack)
		}
		parked[id] = true
	}
	s.parked = parked
}

// lasting notes which calls the ranks are in. For each rank whose call is that of the last look it returns
// what the stack of who makes the call has in it; other suites may run in this process.
func (s *sentry) lasting() (marks []string) {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	now := map[*rank]*string{}
	for r := range s.t.ranks {
		if call := r.call.Load(); call != nil && !slices.Contains(ours, *call) {
			now[r] = call
			if s.calls[r] == call {
				marks = append(marks, fmt.Sprintf("conformance.(*rank).inside(%p", r))
			}
		}
	}
	s.calls = now
	return marks
}

// waits is the state of a goroutine that waits within a call that may not; "" for any other. Open and Close
// of a module may wait. Locks are left out: the suite has some of its own, and a pin is waited for by one.
func waits(stack string, marks []string) string {
	head, _, _ := strings.Cut(stack, "\n")
	_, state, _ := strings.Cut(head, "[")
	state, _, _ = strings.Cut(state, "]")
	state, _, _ = strings.Cut(state, ",")
	switch state {
	case "sleep", "select", "IO wait", "chan send", "chan receive":
	default:
		return ""
	}
	if !slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(stack, mark) }) {
		return ""
	}
	if strings.Contains(stack, ".(*rank).closeModules") || strings.Contains(stack, ".(*world).openModules") {
		return ""
	}
	return state
}
