package programs_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/programs"
)

// seedVariable replays one session; countVariable says how many programs to run.
const (
	seedVariable  = "STRANDTEST_PROGRAMS_SEED"
	countVariable = "STRANDTEST_PROGRAMS"
	keepVariable  = "STRANDTEST_PROGRAMS_KEEP" // of the session: the part that a failure names
)

func TestPrograms(t *testing.T) {
	total, whole := test(t, false, many, count(t, need.Daily(80, 300), 1_000_000), programs.Networks()...)
	_, replay := firstSeed(t)
	if !whole || replay || need.For(t) > 0 {
		return
	}
	// What is rare may not happen among few programs.
	for range 5 {
		if len(total.Zeros()) == 0 || t.Failed() {
			return
		}
		more, _ := test(t, false, many, 100, programs.Networks()...)
		total.Add(more)
	}
	if zeros := total.Zeros(); len(zeros) > 0 {
		t.Errorf("these never happened, so that nothing is known of them: %v", zeros)
	}
}

// Programs that run at the same time, in goroutines of their own.
func TestConcurrentPrograms(t *testing.T) {
	test(t, true, many, count(t, need.Daily(20, 60), 100_000), programs.Networks()...)
}

// Programs whose ranks have one processor between them all.
func TestProgramsOnOneProcessor(t *testing.T) {
	need.CI(t, "where ranks wait for the one processor sessions take their time")
	test(t, false, 1, count(t, 12, 10_000), programs.Networks()...)
}

// The same over the kernel's SCTP, where processors are emulated and slow.
func TestKernelPrograms(t *testing.T) {
	need.KernelSCTP(t)
	test(t, false, many, count(t, 60, 20_000), programs.KernelSCTP()...)
	test(t, true, many, count(t, 15, 2000), programs.KernelSCTP()...)
}

func count(t *testing.T, short, soak int) int {
	text := os.Getenv(countVariable)
	if text == "" {
		return need.Times(short, soak)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%s: %v", countVariable, text, err)
	}
	return n
}

// firstSeed is the seed of the first session, and whether that is all to run.
func firstSeed(t *testing.T) (seed uint64, replay bool) {
	text := os.Getenv(seedVariable)
	if text == "" {
		return uint64(time.Now().UnixNano()), false
	}
	seed, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		t.Fatalf("%s=%s: %v", seedVariable, text, err)
	}
	return seed, true
}

// share is how many of Go's processors there are for each of the machine's, in tests with many.
// A rank that waits in the kernel keeps one of Go's, which takes it away only some milliseconds
// later. With few of them all other ranks would stand still for so long.
const share = 8

var many = share * runtime.NumCPU()

// test runs programs over the networks, or those that -run leaves, and says
// whether chaos was among them, over which alone everything happens.
func test(t *testing.T, concurrent bool, processors, count int, networks ...programs.Network) (total programs.Tally, whole bool) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	seed, replay := firstSeed(t)
	for _, n := range networks {
		t.Run(n.Name, func(t *testing.T) {
			c := campaign{t: t, network: n, concurrent: concurrent, count: uint64(count/len(networks)/max(1, n.Slow)) + 1, span: need.For(t)}
			c.everything = n.Name == "chaos" && !concurrent && processors > 1
			c.next.Store(seed)
			whole = whole || n.Name == "chaos"
			if replay {
				c.replay = true
				c.session(seed)
			} else {
				c.run()
			}
			t.Logf("sessions from %#x on: %v", seed, &c.tally)
			total.Add(c.tally)
		})
	}
	t.Log(&total)
	return total, whole
}

// A campaign runs sessions until so many programs have run, several at a time: in
// each, ranks wait for each other.
type campaign struct {
	t          *testing.T
	network    programs.Network
	concurrent bool
	count      uint64
	span       time.Duration // if not 0: goes on for so long, however many that are
	everything bool          // goes on, ten times as long at most, until all has happened that is counted
	replay     bool
	next       atomic.Uint64 // seed

	mu      sync.Mutex
	tally   programs.Tally
	failed  bool
	started time.Time
	told    time.Time
}

func (c *campaign) run() {
	c.started, c.told = time.Now(), time.Now()
	var wg sync.WaitGroup
	atOnce := runtime.NumCPU() * need.Times(2, share)
	if c.span == 0 {
		atOnce = min(atOnce, 1+int(c.count/16))
	}
	for range atOnce {
		wg.Go(func() {
			for c.more() {
				c.session(c.next.Add(1) - 1)
			}
		})
	}
	wg.Wait()
}

// more reports whether more sessions are to run, and now and then says how far
// it is.
func (c *campaign) more() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.told) >= time.Minute {
		c.told = now
		fmt.Printf("%s %s: %d programs in %d sessions, %.0f a second\n", now.UTC().Format(time.TimeOnly), c.t.Name(),
			c.tally.Programs, c.tally.Sessions, float64(c.tally.Programs)/now.Sub(c.started).Seconds())
	}
	if c.failed || c.span > 0 {
		return !c.failed && time.Since(c.started) < c.span
	}
	limit := c.count
	if c.everything && len(c.tally.Zeros()) > 0 {
		limit *= 10
	}
	return c.tally.Programs < limit
}

func (c *campaign) session(seed uint64) {
	s := programs.NewSession(c.network, seed, c.concurrent)
	if keep := os.Getenv(keepVariable); c.replay && keep != "" {
		var err error
		s, err = s.Keep(keep)
		require.NoError(c.t, err, keepVariable)
	}
	if c.replay {
		c.t.Log(s.Listing())
	}
	tally, err := s.Run(c.t.Context())
	smaller := ""
	if err != nil && !c.replay {
		smaller = c.shrink(s, seed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tally.Add(tally)
	if err == nil {
		return
	}
	c.failed = true
	c.t.Errorf("%v\n\nto run the whole session again, ten times: %s\n%s", err, c.command(seed, ""), smaller)
}

// command runs a session, or a part of it, again.
func (c *campaign) command(seed uint64, keep string) string {
	variables := fmt.Sprintf("%s=%#x", seedVariable, seed)
	if keep != "" {
		variables += fmt.Sprintf(" %s='%s'", keepVariable, keep)
	}
	return fmt.Sprintf("%s go test -count=10 -failfast -run '^%s$' ./internal/test/programs", variables, strings.ReplaceAll(c.t.Name(), "/", "$/^"))
}

// shrinking is how long a smaller session that fails is looked for.
const shrinking = time.Minute

// shrink says how a part of a session fails that has failed. One campaign does so once.
func (c *campaign) shrink(s *programs.Session, seed uint64) string {
	c.mu.Lock()
	first := !c.failed
	c.failed = true
	c.mu.Unlock()
	if !first {
		return ""
	}
	keep, err := s.Shrink(c.t.Context(), shrinking)
	if err != nil {
		if smaller, wrong := s.Keep(keep); wrong == nil {
			return fmt.Sprintf("\nA part of it that fails: %v\n%s\n%s", err, smaller.Listing(), c.command(seed, keep))
		}
	}
	return "\nno part of it was seen to fail"
}
