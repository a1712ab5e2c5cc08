package need

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder is a test that notes how it ended.
type recorder struct {
	testing.TB
	skipped, failed, logged string
}

func (r *recorder) Helper() {}

func (r *recorder) Failed() bool { return r.failed != "" }

func (r *recorder) Logf(format string, args ...any) { r.logged += fmt.Sprintf(format, args...) + "\n" }

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skip(args ...any) { r.Skipf("%s", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// run gives check a goroutine of its own, which it may end.
func run(check func(testing.TB)) *recorder {
	r := new(recorder)
	done := make(chan struct{})
	go func() {
		defer close(done)
		check(r)
	}()
	<-done
	return r
}

func absent(t testing.TB) { Program(t, "strand-no-such-program", "strand-no-such-package") }

func TestMissingProgramSkips(t *testing.T) {
	t.Setenv("STRANDTEST_CI", "")
	r := run(absent)
	assert.Contains(t, r.skipped, "needs the program strand-no-such-program (on Debian: apt-get install strand-no-such-package)")
	assert.Empty(t, r.failed)
}

func TestMissingProgramFailsWhereAllIsClaimed(t *testing.T) {
	t.Setenv("STRANDTEST_CI", "1")
	r := run(absent)
	assert.Contains(t, r.failed, "needs the program strand-no-such-program")
	assert.Empty(t, r.skipped)
}

func TestPresentProgramIsFound(t *testing.T) {
	name := filepath.Join(t.TempDir(), "present")
	require.NoError(t, os.WriteFile(name, []byte("#!/bin/sh\n"), 0o755))
	t.Setenv("PATH", filepath.Dir(name))
	assert.Equal(t, name, Program(t, "present", "anything"))
}

func TestRoot(t *testing.T) {
	t.Setenv("STRANDTEST_CI", "")
	r := run(Root)
	assert.Equal(t, os.Geteuid() != 0, r.skipped != "")
}

func TestThat(t *testing.T) {
	t.Setenv("STRANDTEST_CI", "")
	assert.Empty(t, run(func(t testing.TB) { That(t, true, "never said") }).skipped)
	assert.Equal(t, "needs 3 arms", run(func(t testing.TB) { That(t, false, "needs %d arms", 3) }).skipped)
}

func TestCI(t *testing.T) {
	slow := func(t testing.TB) { CI(t, "it builds the world") }
	t.Setenv("STRANDTEST_CI", "")
	const reason = "runs in CI (STRANDTEST_CI=1), without -race: it builds the world"
	assert.Equal(t, reason, run(slow).skipped)
	t.Setenv("STRANDTEST_CI", "1")
	r := run(slow)
	assert.Empty(t, r.failed)
	if Race {
		assert.Equal(t, reason, r.skipped)
	} else {
		assert.Empty(t, r.skipped)
	}
}

func TestDaily(t *testing.T) {
	all := 1000
	if Race {
		all = 10
	}
	for _, c := range []struct {
		ci, soak string
		want     int
	}{{"", "", 10}, {"1", "", all}, {"", "1", 1000}, {"1", "1", 1000}} {
		t.Setenv("STRANDTEST_CI", c.ci)
		t.Setenv("STRANDTEST_SOAK", c.soak)
		assert.Equal(t, c.want, Daily(10, 1000), "STRANDTEST_CI=%s STRANDTEST_SOAK=%s", c.ci, c.soak)
	}
}

func TestSoak(t *testing.T) {
	t.Setenv("STRANDTEST_SOAK", "")
	assert.Equal(t, 10, Times(10, 1000))

	t.Setenv("STRANDTEST_SOAK", "1")
	assert.Equal(t, 1000, Times(10, 1000))
}

func TestSeeds(t *testing.T) {
	seeds := func() (all []uint64) {
		for seed := range Seeds(t, 3, 5) {
			if all = append(all, seed); len(all) == 10 {
				break
			}
		}
		return all
	}
	t.Setenv("STRANDTEST_SOAK", "")
	t.Setenv("STRANDTEST_FOR", "")
	t.Setenv("STRANDTEST_SEED", "")
	t.Setenv("STRANDTEST_CI", "")
	assert.Zero(t, For(t))
	assert.Equal(t, []uint64{0, 1}, seeds())
	if !Race {
		t.Setenv("STRANDTEST_CI", "1")
		assert.Equal(t, []uint64{0, 1, 2}, seeds())
	}
	t.Setenv("STRANDTEST_SOAK", "1")
	assert.Equal(t, []uint64{0, 1, 2, 3, 4}, seeds())
	t.Setenv("STRANDTEST_FOR", "1h")
	long := seeds()
	require.Len(t, long, 10)
	assert.Equal(t, long[0]+9, long[9])
	assert.Greater(t, long[0], uint64(1<<40))
	assert.Equal(t, time.Hour, For(t))
	t.Setenv("STRANDTEST_FOR", "1ns")
	assert.LessOrEqual(t, len(seeds()), 1)
	assert.False(t, Replays())
	t.Setenv("STRANDTEST_SEED", "42")
	assert.True(t, Replays())
	assert.Equal(t, []uint64{42}, seeds())
}

// A failure of a random trial tells the seed that shows it again, even if the trial itself does not. Otherwise nobody could, of
// trials with new seeds each time.
func TestSeedOfAFailure(t *testing.T) {
	t.Setenv("STRANDTEST_SOAK", "1")
	t.Setenv("STRANDTEST_SEED", "")
	t.Setenv("STRANDTEST_FOR", "")
	for name, trial := range map[string]func(*recorder){
		"it ends the test": func(r *recorder) { r.Fatalf("wrong") },
		"the test goes on": func(r *recorder) { r.failed = "wrong" },
	} {
		r := run(func(t testing.TB) {
			for seed := range Seeds(t, 5, 5) {
				if r, is := t.(*recorder); is && seed == 3 {
					trial(r)
				}
			}
		})
		assert.Equal(t, "STRANDTEST_SEED=3 shows this again\n", r.logged, name)
	}
	r := run(func(t testing.TB) {
		for seed := range Seeds(t, 5, 5) {
			if seed == 3 {
				break
			}
		}
	})
	assert.Empty(t, r.logged)
}
