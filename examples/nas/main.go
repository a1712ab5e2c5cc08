// Nas runs a kernel of the NAS parallel benchmarks and reports as NPB's programs do.
//
//	strand run -n 4 bin/nas cg W
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/npb"
	"github.com/strandmp/strand/examples/nas/suite"
)

func main() {
	asJSON := flag.Bool("json", false, "write the result as JSON")
	flag.Usage = usage
	flag.Parse()
	kernel, class, err := parse(flag.Args())
	if err != nil {
		fmt.Fprintf(os.Stderr, "nas: %v; see nas -h\n", err)
		os.Exit(2)
	}
	err = strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		return nas(ctx, w, kernel, class, *asJSON, os.Stdout)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "nas:", err)
		os.Exit(1)
	}
}

func usage() {
	out := flag.CommandLine.Output()
	fmt.Fprintf(out, "usage: strand run -n RANKS nas [-json] KERNEL CLASS\n\nKernels, of classes S, W, A and B:\n")
	for _, k := range suite.Kernels() {
		fmt.Fprintf(out, "  %s  %s\n", strings.ToLower(k.Name), k.Title)
	}
	flag.PrintDefaults()
}

func parse(args []string) (npb.Kernel, npb.Class, error) {
	if len(args) != 2 {
		return npb.Kernel{}, 0, fmt.Errorf("%d arguments: want a kernel and a class", len(args))
	}
	kernel, err := suite.Find(args[0])
	if err != nil {
		return kernel, 0, err
	}
	class, err := npb.ParseClass(args[1])
	return kernel, class, err
}

// errWrong ends the job with a status that scripts see.
var errWrong = errors.New("verification failed")

// nas runs on every rank; rank 0 reports to out.
func nas(ctx context.Context, w *strand.World, kernel npb.Kernel, class npb.Class, asJSON bool, out io.Writer) error {
	r, err := suite.Run(ctx, w.Comm(), kernel, class)
	if err != nil || r == nil {
		return err
	}
	if asJSON {
		if err := json.NewEncoder(out).Encode(r); err != nil {
			return err
		}
	} else {
		r.Report(out)
	}
	if !r.Verified() {
		return errWrong
	}
	return nil
}
