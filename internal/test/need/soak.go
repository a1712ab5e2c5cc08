package need

import (
	"iter"
	"os"
	"strconv"
	"testing"
	"time"
)

// Soaking reports whether tests are to run in their long forms: make soak, or
// STRANDTEST_SOAK=1.
func Soaking() bool { return os.Getenv("STRANDTEST_SOAK") == "1" }

// Times is for tests that try something many times over: it returns the number
// of trials for a short run or for a soak.
func Times(short, soak int) int {
	if Soaking() {
		return soak
	}
	return short
}

// Seeds yields seeds for random trials: so many, from 0 on, in a short run (half of them from day to day) or in a soak. With STRANDTEST_FOR=15m it goes on for that
// long instead, with seeds that were hardly tried before; the log says which. With STRANDTEST_SEED=42 it is that one, to see a failure again.
// Whatever ends a trial, the log has its seed.
func Seeds(t testing.TB, short, soak int) iter.Seq[uint64] {
	t.Helper()
	return named(t, seeds(t, short, soak))
}

// named logs the first seed whose trial does not end, or has the test fail.
func named(t testing.TB, seeds iter.Seq[uint64]) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		told := false
		trial := func(seed uint64) (more bool) {
			ended := false
			defer func() {
				if !told && (!ended || t.Failed()) {
					told = true
					t.Logf("STRANDTEST_SEED=%d shows this again", seed)
				}
			}()
			more = yield(seed)
			ended = true
			return more
		}
		seeds(trial)
	}
}

func seeds(t testing.TB, short, soak int) iter.Seq[uint64] {
	t.Helper()
	if v := os.Getenv("STRANDTEST_SEED"); Replays() {
		seed, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatalf("STRANDTEST_SEED=%s: want a number, as a failure has printed it", v)
		}
		return func(yield func(uint64) bool) { yield(seed) }
	}
	if span := For(t); span > 0 {
		return seedsFor(t, span)
	}
	return func(yield func(uint64) bool) {
		for seed := range uint64(Times(Daily((short+1)/2, short), soak)) {
			if !yield(seed) {
				return
			}
		}
	}
}

// Replays reports whether random trials are one seed, to see a failure again: what happens among many seeds only does not count then.
func Replays() bool { return os.Getenv("STRANDTEST_SEED") != "" }

// For is how long random trials are to go on by STRANDTEST_FOR=15m, or 0 if it is not set.
func For(t testing.TB) time.Duration {
	t.Helper()
	v := os.Getenv("STRANDTEST_FOR")
	if v == "" {
		return 0
	}
	span, err := time.ParseDuration(v)
	if err != nil || span <= 0 {
		t.Fatalf("STRANDTEST_FOR=%s: want how long to go on, such as 15m", v)
	}
	return span
}

func seedsFor(t testing.TB, span time.Duration) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		start := time.Now()
		from := uint64(start.UnixNano())
		seed := from
		for ; time.Since(start) < span && yield(seed); seed++ {
		}
		t.Logf("%d seeds from %d on", seed-from, from)
	}
}

// Thorough reports whether tests are to try all that they can: in CI, and in their long forms. CI runs
// them all with the race detector too, for races alone: those show in the small forms, and the rest is known
// from the run without it.
func Thorough() bool { return complete() && !Race || Soaking() }

// Daily is for tests of which a small form says enough from day to day, and for the race detector: it returns how
// often something is tried then, and how often where all is tried.
func Daily(few, all int) int {
	if Thorough() {
		return all
	}
	return few
}
