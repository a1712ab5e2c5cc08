package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

func TestParse(t *testing.T) {
	got, err := parse(strings.NewReader(`
{"Action":"start","Package":"m/b"}
{"Action":"output","Package":"m/b","Output":"FuzzZ\n"}
{"Action":"output","Package":"m/b","Output":"ok  \tm/b\t0.003s\n"}
{"Action":"pass","Package":"m/b","Elapsed":0.003}
{"Action":"output","Package":"m/a","Output":"FuzzB\n"}
{"Action":"output","Package":"m/a","Output":"FuzzA\n"}
{"Action":"output","Package":"m/c","Output":"?   \tm/c\t[no test files]\n"}
`))
	require.NoError(t, err)
	assert.Equal(t, []fuzzer{{pkg: "m/a", name: "FuzzA"}, {pkg: "m/a", name: "FuzzB"}, {pkg: "m/b", name: "FuzzZ"}}, got)

	_, err = parse(strings.NewReader("FuzzA\n"))
	assert.ErrorContains(t, err, "not what -json prints")
}

func TestEndedLate(t *testing.T) {
	const progress = "fuzz: elapsed: 5s, execs: 40 (0/sec), new interesting: 1 (total: 2)\n"
	for _, tc := range []struct {
		printed string
		want    bool
	}{
		{progress + "--- FAIL: FuzzA (5.02s)\n    context deadline exceeded\nFAIL\nexit status 1\n", true},
		{progress + "--- FAIL: FuzzA (5.02s)\n    --- FAIL: FuzzA (0.00s)\n        a_test.go:9: context deadline exceeded\n" +
			"    \n    Failing input written to testdata/fuzz/FuzzA/771e\nFAIL\n", false},
		{"--- FAIL: FuzzA (0.00s)\n    --- FAIL: FuzzA/seed#0 (0.00s)\n        a_test.go:9: context deadline exceeded\nFAIL\n", false},
		{"panic: context deadline exceeded\nFAIL\n", false},
	} {
		assert.Equal(t, tc.want, endedLate([]byte(tc.printed)), tc.printed)
	}
}

func TestEffort(t *testing.T) {
	assert.Equal(t, "90 executions, new interesting: 3 (total: 4)", effort([]byte(
		"fuzz: elapsed: 3s, execs: 40 (0/sec), new interesting: 1 (total: 2)\n"+
			"fuzz: elapsed: 6s, execs: 90 (0/sec), new interesting: 3 (total: 4)\nPASS\n")))
	assert.Equal(t, "nothing tried beyond the seeds", effort(nil))
}

// A module with one harmless fuzzer, and then with one that finds something at
// its first input.
func TestRunsRealFuzzers(t *testing.T) {
	need.CI(t, "it builds the standard library for fuzzing")
	writeModule(t, `func FuzzHarmless(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte) {}) }`)
	var out strings.Builder
	require.NoError(t, all(t.Context(), &out, []string{"./..."}, newBudget(time.Second, 0)))
	assert.Contains(t, out.String(), "1 fuzzers, 1s each, 1 at once\nok    example.org/m FuzzHarmless")

	writeModule(t, `func FuzzBad(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte) { t.Error("caught") }) }
func FuzzHarmless(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte) {}) }`)
	out.Reset()
	assert.ErrorContains(t, all(t.Context(), &out, []string{"./..."}, newBudget(time.Second, 0)), "example.org/m FuzzBad")
	assert.Contains(t, out.String(), "FAIL  example.org/m FuzzBad")
	assert.Contains(t, out.String(), "caught")
	assert.Contains(t, out.String(), "ok    example.org/m FuzzHarmless", "a finding does not keep the others from running")
}

// Where all have to end by some time each has its share of that, less what the last one took beside its time.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(20*time.Second, 0)
		b.share(4, 2)
		assert.Equal(t, 20*time.Second, b.next(), "there is no end")

		b = newBudget(20*time.Second, time.Minute)
		b.share(4, 2)
		assert.Equal(t, 20*time.Second, b.next(), "no more than it was told")
		b = newBudget(20*time.Second, time.Minute)
		b.share(8, 2)
		assert.Equal(t, 5*time.Second, b.next(), "four in a row, each 15 s, of which 10 are for building")
		assert.Equal(t, 5*time.Second, b.next())
		b.took(5*time.Second, time.Minute)
		<-time.After(6 * time.Second)
		b.took(5*time.Second, 6*time.Second)
		assert.Equal(t, 17*time.Second, b.next(), "54 s for three in a row, each with 1 s beside")
		<-time.After(time.Minute)
		assert.Equal(t, time.Second, b.next(), "it is late")
	})
}

// All run, as many at once as are allowed; what they say is not mixed, and the error
// names all that failed, in order.
func TestAtOnce(t *testing.T) {
	var fuzzers []fuzzer
	for i := range 20 {
		fuzzers = append(fuzzers, fuzzer{name: fmt.Sprintf("Fuzz%02d", i)})
	}
	var out strings.Builder
	var running, most atomic.Int32
	together := make(chan struct{})
	err := runAll(t.Context(), &out, fuzzers, 3, func(f fuzzer) (string, error) {
		defer running.Add(-1)
		if n := running.Add(1); n == 3 {
			most.Store(3)
			select {
			case <-together:
			default:
				close(together)
			}
		} else if n > 3 {
			most.Store(n)
		}
		<-together // the first three meet
		if f.name == "Fuzz07" || f.name == "Fuzz13" {
			return "FAIL " + f.name + "\nits input\n", errors.New(f.name + ": a finding")
		}
		return "ok " + f.name + "\n", nil
	})
	assert.EqualError(t, err, "Fuzz07: a finding\nFuzz13: a finding")
	assert.EqualValues(t, 3, most.Load())
	assert.Equal(t, 18, strings.Count(out.String(), "ok Fuzz"))
	assert.Contains(t, out.String(), "FAIL Fuzz07\nits input\n")
	assert.Equal(t, 22, strings.Count(out.String(), "\n"))
}

// After an interrupt no other one begins.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begun := 0
	err := runAll(ctx, new(strings.Builder), make([]fuzzer, 20), 1, func(fuzzer) (string, error) {
		begun++
		cancel()
		return "", nil
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.LessOrEqual(t, begun, 2, "the next one may have been handed out")
}

// Modules below have their own go.mod; testdata and hidden folders do not count.
func TestModulesBelow(t *testing.T) {
	need.CI(t, "it builds the standard library for fuzzing")
	writeModule(t, `func FuzzHarmless(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte) {}) }`)
	for _, dir := range []string{"examples/inner", "testdata/x", ".hidden", "empty"} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/inner\n\ngo 1.26\n"), 0o644))
	}
	text := "package inner\n\nimport \"testing\"\n\nfunc FuzzInner(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte) {}) }\n"
	require.NoError(t, os.WriteFile("examples/inner/inner_test.go", []byte(text), 0o644))
	dirs, err := modules(".")
	require.NoError(t, err)
	assert.Equal(t, []string{".", "empty", "examples/inner"}, dirs)
	var out strings.Builder
	require.NoError(t, all(t.Context(), &out, []string{"./..."}, newBudget(time.Second, 0)))
	assert.Contains(t, out.String(), "ok    example.org/inner FuzzInner")
}

func TestNoFuzzerIsAnError(t *testing.T) {
	writeModule(t, `func TestOnly(t *testing.T) {}`)
	assert.ErrorContains(t, all(t.Context(), new(strings.Builder), []string{"./..."}, newBudget(time.Second, 0)), "no function FuzzXxx")
}

func TestWhatDoesNotBuildIsAnError(t *testing.T) {
	writeModule(t, `func FuzzBroken(f *testing.F) { undefined() }`)
	assert.ErrorContains(t, all(t.Context(), new(strings.Builder), []string{"./..."}, newBudget(time.Second, 0)), "undefined")
}

// writeModule makes a module with one test file and goes into its folder.
func writeModule(t *testing.T, body string) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("go.mod", "module example.org/m\n\ngo 1.26\n")
	write("m_test.go", "package m\n\nimport \"testing\"\n\n"+body+"\n")
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Chdir(dir)
}
