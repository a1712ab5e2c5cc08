// Wordfreq counts the words of all files in a directory: rank 0 farms the files
// out to the others and merges what they have counted, then counts everything
// again by itself and compares.
//
//	strand run -n 4 --btl tcp,self bin/wordfreq
//	strand run -n 4 --btl tcp,self bin/wordfreq -dir /usr/share/doc -top 20
//
// It shows any source, any tag: one tag for each kind of file, results taken as
// they come; several requests under way to each worker; two communicators that
// keep requests and results apart; matched probes for messages of unknown size.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/param"
)

// config is the command line.
type config struct {
	dir   string
	max   int64 // bytes to read at the most
	ahead int   // files under way to each worker
	top   int   // words to print
	out   io.Writer
}

func main() {
	c := config{out: os.Stdout}
	limit := flag.String("max", "64M", "stop after so many bytes (K, M, G)")
	flag.StringVar(&c.dir, "dir", "", "directory whose files are counted (default: the sources of the Go tree)")
	flag.IntVar(&c.ahead, "ahead", 4, "files under way to each worker at the same time")
	flag.IntVar(&c.top, "top", 10, "how many words to print")
	flag.Parse()
	if flag.NArg() > 0 {
		fail(mistake, fmt.Errorf("unexpected argument %q: a directory is named by -dir %[1]s", flag.Arg(0)))
	}
	if err := c.check(*limit); err != nil {
		fail(mistake, err)
	}
	if err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		return wordfreq(ctx, w, c)
	}); err != nil {
		fail(failed, err)
	}
}

// Statuses to exit with.
const (
	failed  = 1
	mistake = 2 // in the command line
)

func fail(status int, err error) {
	fmt.Fprintln(os.Stderr, "wordfreq:", err)
	os.Exit(status)
}

func (c *config) check(limit string) (err error) {
	if c.max, err = param.ParseSize(limit); err != nil {
		return fmt.Errorf("-max %s: %w", limit, err)
	}
	switch {
	case c.max < 1:
		return fmt.Errorf("-max %d: at least one byte is needed", c.max)
	case c.ahead < 1 || c.ahead > 1000:
		return fmt.Errorf("-ahead %d: 1 to 1000 are allowed", c.ahead)
	case c.top < 0:
		return fmt.Errorf("-top %d: 0 or more are allowed", c.top)
	}
	return nil
}

// wordfreq runs on every rank.
func wordfreq(ctx context.Context, w *strand.World, c config) error {
	requests := w.Comm()
	results, err := requests.Dup(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = results.Free() }()
	switch {
	case w.Rank() > 0:
		return work(ctx, requests, results)
	case w.Size() > 1:
		return lead(ctx, w, requests, results, c)
	}
	// Alone, rank 0 is its own worker: the messages travel from the process to
	// itself.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() {
		err := work(ctx, requests, results)
		if err != nil {
			cancel(fmt.Errorf("worker: %w", err)) // so that nobody waits for it
		}
		ended <- err
	}()
	if err := lead(ctx, w, requests, results, c); err != nil {
		cancel(err)
		<-ended
		return context.Cause(ctx)
	}
	return <-ended
}
