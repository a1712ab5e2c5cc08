package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Status is the outcome of a case.
type Status uint8

const (
	// Passed: no rule was broken.
	Passed Status = iota
	// Failed: at least one rule was broken.
	Failed
	// NotApplicable: the transport has nothing that the case could test.
	NotApplicable
)

func (s Status) String() string {
	return [...]string{"passed", "failed", "not applicable"}[s]
}

// A Violation is one breach of the contract.
type Violation struct {
	// Rule is the short name of what was broken, Text the rule in words.
	Rule, Text string
	// Detail is what was seen.
	Detail string
	// Stacks are those of all goroutines, if something hangs.
	Stacks string
}

func (v Violation) Error() string {
	return fmt.Sprintf("%s: %s\n\trule: %s", v.Rule, v.Detail, v.Text)
}

// A Result is the outcome of one case.
type Result struct {
	// Case is its name and About what it is about.
	Case, About string
	// Rules are the names of those that the case is made to put to the test.
	Rules  []string
	Status Status
	// Violations are the rules that were broken, first things first.
	Violations []Violation
	// Reason says why the case is not applicable.
	Reason   string
	Seed     uint64
	Duration time.Duration
}

// Err returns the violations as one error, or nil.
func (r Result) Err() error {
	errs := make([]error, len(r.Violations))
	for i, v := range r.Violations {
		errs[i] = v
	}
	return errors.Join(errs...)
}

// Broke reports whether the rule of that name was broken.
func (r Result) Broke(rule string) bool {
	return slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Rule == rule })
}

// A Report is the outcome of a run of the suite.
type Report struct {
	Seed    uint64
	Results []Result
}

// Failed returns the results of the cases that failed.
func (r Report) Failed() []Result {
	var failed []Result
	for _, result := range r.Results {
		if result.Status == Failed {
			failed = append(failed, result)
		}
	}
	return failed
}

// A RuleResult is the outcome of a run for one rule.
type RuleResult struct {
	Rule
	// Cases are those of the run that are made to put the rule to the test; another one may
	// have seen it broken.
	Cases []string
	// Status is Failed if any case has seen the rule broken, NotApplicable if none of Cases
	// applies.
	Status Status
	// Duration is how long Cases took. One that is for several rules counts in each of them.
	Duration time.Duration
}

// Rules returns the outcome for each rule that the run was about, in the order of [Rules].
func (r Report) Rules() []RuleResult {
	var all []RuleResult
	for _, rule := range rules {
		one, broken := RuleResult{Rule: rule, Status: NotApplicable}, false
		for _, result := range r.Results {
			broken = broken || result.Broke(rule.Name)
			if !slices.Contains(result.Rules, rule.Name) {
				continue
			}
			one.Cases = append(one.Cases, result.Case)
			one.Duration += result.Duration
			if result.Status != NotApplicable {
				one.Status = Passed
			}
		}
		if broken {
			one.Status = Failed
		}
		if broken || len(one.Cases) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// String is the report as a table, with the violations below it.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\n", r.Seed)
	for _, result := range r.Results {
		fmt.Fprintf(&b, "%-14s %-22s %8v  %s\n", result.Status, result.Case,
			result.Duration.Round(time.Millisecond), result.Reason)
	}
	for _, result := range r.Failed() {
		fmt.Fprintf(&b, "\n%s: %s\n%v\n", result.Case, result.About, result.Err())
	}
	return b.String()
}
