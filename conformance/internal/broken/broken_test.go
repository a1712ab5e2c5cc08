package broken_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/conformance/internal/broken"
	"github.com/strandmp/strand/internal/test/mem"
	"github.com/strandmp/strand/internal/test/need"
)

// quiet is the time without an event after which one of many broken transports hangs, and
// patience that of one which is alone: the suite's own.
const (
	quiet    = 2 * time.Second
	patience = 20 * time.Second
)

// TestBroken: each broken transport is caught, by the case that is about what is
// broken, with the rule in its report.
func TestBroken(t *testing.T) {
	var wait sync.WaitGroup
	var missed lockedFaults
	room := make(chan struct{}, 24) // most of them wait for something that never comes
	for _, fault := range broken.Faults {
		if fault.Rule == "clean" || raceFinds(fault.Name) {
			continue
		}
		room <- struct{}{}
		wait.Go(func() {
			defer func() { <-room }()
			if catch(fault, quiet) != nil {
				missed.add(fault)
			}
		})
	}
	wait.Wait()
	// So many at once, on a machine that does other things, may stand still for that time before
	// they come to their fault. Alone they do not. A fault at the end of a connection shows only if something is under way just then,
	// which not every seed has on a slow machine.
	for _, fault := range missed.faults {
		if err := catchSoon(fault); err != nil {
			t.Error(err)
		}
	}
}

// catchSoon is catch with a few seeds.
func catchSoon(fault broken.Fault) (err error) {
	for range 4 {
		if err = catch(fault, patience); err == nil {
			return nil
		}
	}
	return err
}

type lockedFaults struct {
	mu     sync.Mutex
	faults []broken.Fault
}

func (l *lockedFaults) add(f broken.Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, f)
}

// TestBrokenLeaks is the same for leaks, which show only if nothing else runs.
func TestBrokenLeaks(t *testing.T) {
	for _, fault := range broken.Faults {
		if fault.Rule != "clean" || catch(fault, quiet) == nil {
			continue
		}
		if err := catchSoon(fault); err != nil {
			t.Error(err)
		}
	}
}

// run runs the case that has to notice a fault.
func run(fault broken.Fault, timeout time.Duration) conformance.Report {
	var made []*broken.Component
	report := conformance.Check(context.Background(), func() conformance.Subject {
		component := broken.New(fault, mem.Config{MaxFrame: 1 << 20, Lanes: 4, Window: 64, Chunk: 16 << 10})
		made = append(made, component)
		return conformance.Subject{Component: component, Sever: broken.Sever, Wire: component.Wire, Inject: broken.Inject}
	}, conformance.Only(fault.Case), conformance.Timeout(timeout))
	for _, component := range made {
		component.Stop()
	}
	return report
}

// catch is an error if that case does not notice.
func catch(fault broken.Fault, timeout time.Duration) error {
	report := run(fault, timeout)
	if result := report.Results[0]; !result.Broke(fault.Rule) {
		return fmt.Errorf("a transport that %s has to fail by rule %q; seed %d, it %v: %w",
			fault.Name, fault.Rule, result.Seed, result.Status, result.Err())
	}
	return nil
}

// TestWithoutAFault: what the cases find is the fault, since they find nothing without one. Here those ranks talk that connect to each
// other at the same time.
func TestWithoutAFault(t *testing.T) {
	for range need.Times(need.Daily(1, 3), 200) {
		if result := run(broken.Fault{Name: "has none", Case: "all-to-all"}, patience).Results[0]; result.Err() != nil {
			t.Errorf("seed %d: %v", result.Seed, result.Err())
		}
	}
}

// TestLostFrameIsDescribed: who has lost a frame is told which, and not only that one is missing.
func TestLostFrameIsDescribed(t *testing.T) {
	if s := run(named("loses a frame"), quiet).String(); !strings.Contains(s, "have not arrived; the first is number ") || !strings.Contains(s, "endpoint to rank") {
		t.Errorf("no word of which frame is missing:\n%s", s)
	}
}

// TestBrokenHasReason: Send says no more than Broken; the report has the reason too, which Down gives.
func TestBrokenHasReason(t *testing.T) {
	s := run(named("gives its connection up for a frame of many pieces"), quiet).String()
	if !strings.Contains(s, "said Broken") || !strings.Contains(s, syscall.EMSGSIZE.Error()) {
		t.Errorf("no word of why an endpoint was broken:\n%s", s)
	}
}

// TestRefusedFrameEndsItsConnection: a receiver that is shown a frame against the rules refuses it, and the connection ends by that, as it
// has to. So the transport is not blamed for that end too.
func TestRefusedFrameEndsItsConnection(t *testing.T) {
	for _, name := range []string{"duplicates a frame", "loses the last byte of a payload", "truncates a long header"} {
		fault := named(name)
		result := run(fault, quiet).Results[0]
		if !result.Broke(fault.Rule) || result.Broke("stays-up") {
			t.Errorf("a transport that %s has to fail by rule %q alone; seed %d: %v", name, fault.Rule, result.Seed, result.Err())
		}
	}
}

func named(name string) broken.Fault {
	return broken.Faults[slices.IndexFunc(broken.Faults, func(f broken.Fault) bool { return f.Name == name })]
}

// TestRulesAreBroken: there is a broken transport for each rule.
func TestRulesAreBroken(t *testing.T) {
	broke := map[string]bool{}
	for _, fault := range broken.Faults {
		broke[fault.Rule] = true
	}
	for _, rule := range conformance.Rules() {
		if !broke[rule.Name] {
			t.Errorf("no broken transport breaks rule %q: nobody has seen the suite notice", rule.Name)
		}
	}
}

// TestCasesNameTheirRules: a case that has to notice a fault is one that says it is made for
// the rule, and each rule has a case.
func TestCasesNameTheirRules(t *testing.T) {
	of := map[string][]string{}
	for _, c := range conformance.Cases() {
		of[c.Name] = c.Rules
	}
	for _, fault := range broken.Faults {
		if !slices.Contains(of[fault.Case], fault.Rule) {
			t.Errorf("case %q notices that a transport %s, and does not say that it is about rule %q", fault.Case, fault.Name, fault.Rule)
		}
	}
	for _, rule := range conformance.Rules() {
		if !slices.ContainsFunc(conformance.Cases(), func(c conformance.Case) bool { return slices.Contains(c.Rules, rule.Name) }) {
			t.Errorf("no case is made for rule %q", rule.Name)
		}
	}
}
