//go:build linux

// Package trials tries one kind of misfortune over and over.
//
// Only Strand itself imports this package. It is no promise: it changes with any version.
package trials

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
)

// The trials are a family of tests, TestTrialsOf…, each of which tries one kind of misfortune
// over and over, with all bytes compared, and counts what it comes to. Each has a short form of a
// few trials and, with STRANDTEST_SOAK=1, a long one of a thousand:
//
//	STRANDTEST_SOAK=1 go test -count=1 -timeout 0 -v -run 'TestTrialsOfKilling$' ./internal/test/nettest/failures

const (
	// trialsVariable is how many trials there are to be instead.
	trialsVariable = "STRANDTEST_TRIALS"
	// trialVariable is the seed of the one trial that is to be repeated, as often as -count
	// says.
	trialVariable = "STRANDTEST_TRIAL_SEED"
	// manyTrials is how many a long form has.
	manyTrials = 1000
)

// Trials are what a test of the family tries.
type Trials struct {
	Short  int    // runs in the short form
	Long   int    // trials in the long form, 0 for a thousand
	Each   int    // trials that a run makes, 0 for one
	Beside int    // runs at a time, 0 for one
	Took   string // what the time of a trial is
	Run    func(t *testing.T, tr *Trial)
}

// A Trial is one run: a seed, and what the run has come to.
type Trial struct {
	Seed   uint64
	Random *rand.Rand // follows from the seed
	jobs   []*nettest.Run
	took   []time.Duration // of each trial in the run
	hung   bool
}

// Way returns which of n ways this run tries. As many runs as there are ways try them all.
func (tr *Trial) Way(n int) int { return int(tr.Seed%waysBound) % n }

// waysBound is how many runs have consecutive ways.
const waysBound = 1 << 10

// Start starts a job of the trial.
func (tr *Trial) Start(t *testing.T, job nettest.Job) *nettest.Run {
	t.Helper()
	r := job.Start(t)
	tr.jobs = append(tr.jobs, r)
	return r
}

// Hangs ends a trial in which what is to happen does not.
func (tr *Trial) Hangs(t *testing.T, what string) {
	t.Helper()
	tr.hung = true
	t.Fatal("hangs: ", what)
}

// Done notes how long trials took.
func (tr *Trial) Done(took ...time.Duration) { tr.took = append(tr.took, took...) }

// A fault is how a trial has failed.
type fault int

const (
	hang fault = iota
	wrongBytes
	wrongWord // or status
	faults
)

// damage is how ranks tell of wrong bytes.
var damage = regexp.MustCompile(`damaged|differs|something else than|was written to|that nobody sent`)

// fault says how a trial has failed that has.
func (tr *Trial) fault() fault {
	worst := wrongWord
	for _, r := range tr.jobs {
		err := r.Wait()
		if _, late := errors.AsType[*job.TimeoutError](err); late {
			return hang
		}
		if damage.MatchString(r.String()) {
			worst = wrongBytes
		}
	}
	if tr.hung {
		return hang
	}
	return worst
}

// slow is from when on a run that has passed shows its output, where its time comes from being the question.
const slow = 15 * time.Second

// Try makes the trials, and tells what they have come to.
func (k Trials) Try(t *testing.T) {
	t.Helper()
	if k.Each == 0 {
		k.Each = 1
	}
	seeds := k.seeds(t)
	sums := tally{name: t.Name(), took: k.Took}
	next := make(chan uint64)
	var group sync.WaitGroup
	for range min(max(k.Beside, 1), len(seeds)) {
		group.Go(func() {
			for seed := range next {
				if n := k.one(t, seed, &sums); n > 0 && n%100 < k.Each {
					t.Logf("so far:\n%s", &sums)
				}
			}
		})
	}
	for _, seed := range seeds {
		next <- seed
	}
	close(next)
	group.Wait()
	t.Logf("\n%s", &sums)
}

// one makes a run, and returns how many trials there have been by then.
func (k Trials) one(t *testing.T, seed uint64, sums *tally) int {
	tr := &Trial{Seed: seed, Random: rand.New(rand.NewPCG(seed, 0x7121A1))}
	passed := t.Run(fmt.Sprintf("%#x", seed), func(t *testing.T) {
		start := time.Now()
		t.Cleanup(func() {
			if t.Failed() {
				all := strings.TrimSuffix(t.Name(), fmt.Sprintf("/%#x", seed))
				t.Logf("again, in its folder: %s=%#x go test -count=10 -v -run '%s$' .", trialVariable, seed, strings.ReplaceAll(all, "/", "$/"))
			} else if took := time.Since(start); took > slow {
				for _, r := range tr.jobs {
					t.Logf("took %v:\n%s", took, r)
				}
			}
		})
		k.Run(t, tr)
	})
	// The jobs are over: the end of a test ends them.
	if passed {
		return sums.passed(tr, k.Each)
	}
	return sums.failed(tr, k.Each)
}

// seeds are those of the runs. Their lowest bits count.
func (k Trials) seeds(t *testing.T) (seeds []uint64) {
	t.Helper()
	if text := os.Getenv(trialVariable); text != "" {
		seed, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			t.Fatalf("%s: %v", trialVariable, err)
		}
		return []uint64{seed}
	}
	long := k.Long
	if long == 0 {
		long = manyTrials
	}
	runs := need.Times(k.Short, (long+k.Each-1)/k.Each)
	if text := os.Getenv(trialsVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s: %v", trialsVariable, err)
		}
		runs = (n + k.Each - 1) / k.Each
	}
	for i := range runs {
		seeds = append(seeds, rand.Uint64()&^(waysBound-1)|uint64(i%waysBound))
	}
	return seeds
}

// A tally is what trials have come to so far.
type tally struct {
	name, took string

	mu     sync.Mutex
	trials int
	faults [faults]int // runs
	times  []time.Duration
}

func (s *tally) passed(tr *Trial, trials int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trials += trials
	s.times = append(s.times, tr.took...)
	return s.trials
}

func (s *tally) failed(tr *Trial, trials int) int {
	f := tr.fault()
	s.mu.Lock()
	s.faults[f]++
	s.mu.Unlock()
	return s.passed(tr, trials)
}

// String is a table.
func (s *tally) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	times := slices.Sorted(slices.Values(s.times))
	median, longest := "–", "–"
	if n := len(times); n > 0 {
		median, longest = times[n/2].Round(time.Millisecond).String(), times[n-1].Round(time.Millisecond).String()
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "test\ttrials\thangs\twrong bytes\twrong word or status\tmedian\tlongest\twhich is the time")
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", s.name, s.trials, s.faults[hang], s.faults[wrongBytes], s.faults[wrongWord], median, longest, s.took)
	_ = w.Flush() // a Builder takes all
	return b.String()
}
