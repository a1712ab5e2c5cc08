package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"syscall"
	"time"
)

// run runs one fuzzer and returns one line if it finds nothing, or all that go
// test printed, which says where the failing input was put.
func (f fuzzer) run(ctx context.Context, each time.Duration) (string, error) {
	start := time.Now()
	// Without a bound go test spends up to a minute on making each input shorter that
	// reaches anything new, and has no time left for others.
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$",
		"-fuzz", "^"+f.name+"$", "-fuzztime", each.String(), "-fuzzminimizetime", "1s", "-parallel", "1", f.pkg)
	cmd.Dir = f.dir
	// An interrupt lets go test end its workers and keep what they have found.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	printed, err := cmd.CombinedOutput()
	took := time.Since(start).Round(100 * time.Millisecond)
	if err != nil && !endedLate(printed) {
		return fmt.Sprintf("FAIL  %s %s  %v\n%s", f.pkg, f.name, took, printed), fmt.Errorf("%s %s: %w", f.pkg, f.name, err)
	}
	return fmt.Sprintf("ok    %s %s  %v, %s\n", f.pkg, f.name, took, effort(printed)), nil
}

// late is all that go test says of a fuzzer that has found nothing and whose
// workers, on a busy machine, saw the end of -fuzztime a moment too late. That
// is a mistake of go test's up to Go 1.26 (https://go.dev/issue/75804). A finding
// names its input instead.
var late = regexp.MustCompile(`(?m)^--- FAIL: Fuzz\w+ \([0-9.]+s\)\n    context deadline exceeded\nFAIL$`)

func endedLate(printed []byte) bool { return late.Match(printed) }

var (
	executions = regexp.MustCompile(`execs: (\d+)`)
	inputs     = regexp.MustCompile(`new interesting: \d+ \(total: \d+\)`)
)

// effort says how much was tried, from the last line of progress.
func effort(printed []byte) string {
	execs := executions.FindAllSubmatch(printed, -1)
	total := inputs.FindAll(printed, -1)
	if len(execs) == 0 || len(total) == 0 {
		return "nothing tried beyond the seeds"
	}
	return fmt.Sprintf("%s executions, %s", execs[len(execs)-1][1], total[len(total)-1])
}
