package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/strandmp/strand/tools/kernelvm/plan"
)

// keepLines is how many of the console's last lines are shown when something is
// wrong with the machine.
const keepLines = 60

// A report shows what the tests print, as it comes, and gathers how they ended.
type report struct {
	mu       sync.Mutex
	out      io.Writer
	waiting  []string // packages whose tests have not ended
	running  string
	booted   bool
	done     bool
	problems []error
	console  []string
	trouble  string // the first line of the console that says so
}

func newReport(out io.Writer, tests []testBinary) *report {
	r := &report{out: out}
	for _, t := range tests {
		r.waiting = append(r.waiting, t.pkg)
	}
	return r
}

// noTests is what a test binary says when it has passed because it did nothing.
const noTests = "testing: warning: no tests to run"

// readOutput passes on what the tests print.
func (r *report) readOutput(in io.Reader) error {
	for b := bufio.NewReader(in); ; {
		line, err := b.ReadString('\n')
		r.print(line)
		if strings.HasPrefix(line, noTests) {
			r.event(plan.Event{Kind: plan.Problem, Text: "a package without a test that -run fits: wrongly named?"})
		}
		if err != nil {
			return notEnd(err)
		}
	}
}

func (r *report) print(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprint(r.out, text)
}

// trouble is how a kernel says that something has gone wrong with it. That a
// processor has stood still is no wonder where they are emulated.
var trouble = regexp.MustCompile(`Kernel panic|Oops|BUG:|general protection|Out of memory|Unable to mount|unable to handle`)

// readConsole keeps the last lines of what the kernel says.
func (r *report) readConsole(in io.Reader) error {
	for b := bufio.NewReader(in); ; {
		line, err := b.ReadString('\n')
		r.note(strings.TrimRight(line, "\r\n"))
		if err != nil {
			return notEnd(err)
		}
	}
}

func (r *report) note(line string) {
	if line == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble == "" && trouble.MatchString(line) {
		r.trouble = line
	}
	r.console = append(r.console, line)
	if len(r.console) > keepLines {
		r.console = slices.Delete(r.console, 0, 1)
	}
}

func (r *report) readEvents(in io.Reader) error {
	if err := plan.Receive(in, r.event); err != nil {
		return fmt.Errorf("events of the machine: %w", err)
	}
	return nil
}

func (r *report) event(e plan.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case plan.Booted:
		r.booted = true
		fmt.Fprintf(r.out, "kernelvm: Linux %s is up\n", e.Text)
	case plan.Problem:
		r.problems = append(r.problems, errors.New(strings.TrimSpace(e.Package+" "+e.Text)))
	case plan.Started:
		r.running = e.Package
	case plan.Ended:
		r.ended(e)
	case plan.Done:
		r.done = true
	}
}

func (r *report) ended(e plan.Event) {
	r.running = ""
	r.waiting = slices.DeleteFunc(r.waiting, func(pkg string) bool { return pkg == e.Package })
	verdict := "ok  "
	if e.Status != 0 {
		verdict = "FAIL"
		r.problems = append(r.problems, fmt.Errorf("%s: exit status %d", e.Package, e.Status))
	}
	fmt.Fprintf(r.out, "%s\t%s\t%.3fs\n", verdict, e.Package, e.Took.Seconds())
}

// verdict is nil if every test of every package has passed and the kernel had
// nothing to complain of.
func (r *report) verdict() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	errs := r.problems
	switch {
	case r.trouble != "":
		errs = append(errs, fmt.Errorf("the machine's kernel says: %s", r.trouble))
	case !r.booted:
		errs = append(errs, errors.New("the machine did not come up"))
	case !r.done:
		errs = append(errs, errors.New("the machine ended before its tests"))
	}
	if r.running != "" {
		errs = append(errs, fmt.Errorf("%s was running", r.running))
	}
	if len(r.waiting) > 0 {
		errs = append(errs, fmt.Errorf("not run to the end: %s", strings.Join(r.waiting, ", ")))
	}
	if (r.trouble != "" || !r.done) && len(r.console) > 0 {
		errs = append(errs, fmt.Errorf("its console:\n%s", strings.Join(r.console, "\n")))
	}
	return errors.Join(errs...)
}

// stoodStill reports whether the kernel ended since a processor of its own was in
// it for a minute, before all tests had ended. It happens once in a hundred machines or fewer,
// for instance in the kernel's getsockopt of SCTP_SOCKOPT_CONNECTX3.
func (r *report) stoodStill() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.done && len(r.waiting) > 0 && strings.Contains(r.trouble, "soft lockup")
}

func notEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
