// Command fuzzall runs every fuzzer of the packages given, in this module and in
// those below it, one after the other, for the same time each. It fails if one finds something, and if there is none
// to run.
//
// go test itself fuzzes one function of one package a run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"time"
)

func main() {
	each := flag.Duration("time", 20*time.Second, "how long to run each fuzzer")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: fuzzall [-time d] [packages]   (default ./...)\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	patterns := flag.Args()
	if len(patterns) == 0 {
		patterns = []string{everything}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := all(ctx, os.Stdout, patterns, *each)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzzall:", err)
		os.Exit(1)
	}
}

// everything is the pattern of all packages of a module.
const everything = "./..."

// all runs every fuzzer, whatever the others find.
func all(ctx context.Context, out io.Writer, patterns []string, each time.Duration) error {
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
	fmt.Fprintf(out, "%d fuzzers, %v each\n", len(fuzzers), each)
	var findings []error
	for _, f := range fuzzers {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(findings, err)...)
		}
		if err := f.run(ctx, out, each); err != nil {
			findings = append(findings, err)
		}
	}
	return errors.Join(findings...)
}
