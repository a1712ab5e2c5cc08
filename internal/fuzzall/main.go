// Command fuzzall runs every fuzzer of the packages given, one after the other,
// for the same time each. It fails if one finds something, and if there is none
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
		patterns = []string{"./..."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := all(ctx, os.Stdout, patterns, *each)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzzall:", err)
		os.Exit(1)
	}
}

// all runs every fuzzer, whatever the others find.
func all(ctx context.Context, out io.Writer, patterns []string, each time.Duration) error {
	fuzzers, err := find(ctx, patterns)
	if err != nil {
		return err
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
