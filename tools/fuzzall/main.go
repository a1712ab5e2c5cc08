// Command fuzzall runs every fuzzer of the packages given, in this module and in
// those below it, for the same time each, or for less where all have to end by some time. It fails if one finds something, and if
// there is none to run.
//
// go test itself fuzzes one function of one package a run, with a worker for each
// processor. Here as many fuzzers run at once as there are processors, with one
// worker each: so building one's tests, trying its seeds and what it has found
// before, and its end keep no processor from fuzzing another.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"time"
)

func main() {
	each := flag.Duration("time", 20*time.Second, "how long to run each fuzzer")
	within := flag.Duration("within", 0, "how long all may take, with building them: each has less time where that is slow, one second at least; 0: as long as it takes")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: fuzzall [-time d] [-within d] [packages]   (default ./...)\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	patterns := flag.Args()
	if len(patterns) == 0 {
		patterns = []string{everything}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := all(ctx, os.Stdout, patterns, newBudget(*each, *within))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzzall:", err)
		os.Exit(1)
	}
}

// everything is the pattern of all packages of a module.
const everything = "./..."

// all runs every fuzzer, whatever the others find.
func all(ctx context.Context, out io.Writer, patterns []string, b *budget) error {
	dirs := []string{"."}
	if slices.Contains(patterns, everything) {
		var err error
		if dirs, err = modules("."); err != nil {
			return err
		}
	}
	var fuzzers []fuzzer
	for _, dir := range dirs {
		if dir != "." {
			patterns = []string{everything}
		}
		found, err := find(ctx, dir, patterns)
		if err != nil {
			return fmt.Errorf("module in %s: %w", dir, err)
		}
		fuzzers = append(fuzzers, found...)
	}
	if len(fuzzers) == 0 {
		return fmt.Errorf("no function FuzzXxx in %q: the wrong folder?", patterns)
	}
	atOnce := min(runtime.GOMAXPROCS(0), len(fuzzers))
	fmt.Fprintf(out, "%d fuzzers, %v each, %d at once\n", len(fuzzers), b.each, atOnce)
	b.share(len(fuzzers), atOnce)
	return runAll(ctx, out, fuzzers, atOnce, func(f fuzzer) (string, error) {
		each, start := b.next(), time.Now()
		defer func() { b.took(each, time.Since(start)) }()
		return f.run(ctx, each)
	})
}

// runAll runs that many at once. What each has to say is written when it ends, in
// one piece; the error names those that failed, in order.
func runAll(ctx context.Context, out io.Writer, fuzzers []fuzzer, atOnce int, run func(fuzzer) (string, error)) error {
	var running sync.WaitGroup
	var writing sync.Mutex
	next := make(chan int)
	errs := make([]error, len(fuzzers)+1)
	for range atOnce {
		running.Go(func() {
			for i := range next {
				said, err := run(fuzzers[i])
				errs[i] = err
				writing.Lock()
				_, _ = io.WriteString(out, said)
				writing.Unlock()
			}
		})
	}
	for i := range fuzzers {
		if errs[len(fuzzers)] = ctx.Err(); errs[len(fuzzers)] != nil {
			break
		}
		next <- i
	}
	close(next)
	running.Wait()
	return errors.Join(errs...)
}
