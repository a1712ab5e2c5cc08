package job

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lines"
	"github.com/strandmp/strand/internal/trace"
	"github.com/strandmp/strand/param"
)

// traceSum is how much all ranks keep together, unless it is said how much each does. A page of 200 MB
// comes of it, and viewers take no more.
const traceSum = 8 * trace.DefaultSize

// traceSize is the size of each rank's ring, 0 if there is none.
func (c *Config) traceSize() int64 {
	if c.Trace == "" {
		return 0
	}
	return cmp.Or(c.TraceBuffer, max(trace.MinSize, min(trace.DefaultSize, traceSum/int64(c.Ranks))))
}

// openTrace makes the file for the trace, before anything is started. It is nil if there is to be none. It may be a pipe, with a reader: this
// process must not be one itself, since it would never learn that the other has gone, nor wait for one.
func (c *Config) openTrace() (*os.File, error) {
	if c.Trace == "" {
		return nil, nil
	}
	f, err := os.OpenFile(c.Trace, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o666) //nolint:gosec // as the umask says, like any output
	if errors.Is(err, syscall.ENXIO) {
		return nil, &UsageError{fmt.Sprintf("--trace: %v: no process reads this pipe, or it is a socket or a device that is not there", err)}
	}
	if err != nil {
		return nil, &UsageError{fmt.Sprintf("--trace: %v", err)}
	}
	return f, nil
}

// withTrace adds the trace to the end of the job. What the job has failed with counts for more than that there is no trace.
func (j *job) withTrace(page *os.File, failure error) error {
	if page == nil {
		return failure
	}
	text, unwritten := j.writeTrace(page)
	if failure != nil && unwritten != nil {
		text = fmt.Sprintf("strand run: %v\n", unwritten)
	}
	return cmp.Or(failure, unwritten, j.tellLast(text, Hurried(failure)))
}

// tellLast writes lines about a job that is over. Their reader may take its time, until a signal comes; in a hurry it has [LastWords].
func (j *job) tellLast(text string, hurry bool) error {
	told := make(chan struct{})
	go func() {
		defer close(told)
		_ = lines.WriteAll(j.config.stderr(), []byte(text))
	}()
	late := stoppedTimer()
	defer late.Stop()
	if hurry {
		late.Reset(LastWords)
	}
	for {
		select {
		case <-told:
			return nil
		case <-late.C:
			return nil
		case sig := <-j.config.Signals:
			if number, ends := ending(sig); ends {
				return &UnreadError{&InterruptError{Signal: number}}
			}
		}
	}
}

// ending reports whether a signal ends a wait that is not for ranks.
func ending(sig os.Signal) (number syscall.Signal, ends bool) {
	switch number, _ = sig.(syscall.Signal); number {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return number, true
	}
	return number, false
}

// writeTrace writes what the ranks have recorded, and returns what is to be said of it. All of them have ended.
func (j *job) writeTrace(f *os.File) (text string, err error) {
	var ranks []*trace.Rank
	var silent []int
	for _, p := range j.ranks {
		var r *trace.Rank
		err := p.unrecorded
		if err == nil {
			r, err = trace.Read(p.rank, j.hostOf(p.rank), p.recorded)
		}
		if err != nil || !r.Joined {
			silent = append(silent, p.rank)
			continue
		}
		ranks = append(ranks, r)
	}
	sum, err := j.interruptible(f, func() (trace.Summary, error) { return writePage(f, ranks) })
	if err != nil {
		return "", fmt.Errorf("--trace %s: what the ranks have recorded is lost: %w", j.config.Trace, err)
	}
	return j.traceText(&sum, len(ranks), silent), nil
}

// interruptible writes to a file until a signal ends that: who reads it, or where it lies, may hold it up for ever.
func (j *job) interruptible(f *os.File, write func() (trace.Summary, error)) (trace.Summary, error) {
	type result struct {
		sum trace.Summary
		err error
	}
	written := make(chan result, 1)
	go func() {
		sum, err := write()
		written <- result{sum, err}
	}()
	for {
		select {
		case r := <-written:
			return r.sum, r.err
		case sig := <-j.config.Signals:
			if number, ends := ending(sig); ends {
				_ = f.Close() // this ends a write to a pipe
				return trace.Summary{}, fmt.Errorf("signal %d (%s) has come while it was written", int(number), unix.SignalName(number))
			}
		}
	}
}

func (c *Config) stderr() io.Writer {
	if c.Stderr == nil {
		return io.Discard
	}
	return c.Stderr
}

// writePage writes the page, packed if the file's name says so.
func writePage(f *os.File, ranks []*trace.Rank) (sum trace.Summary, err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	if !strings.HasSuffix(f.Name(), ".gz") {
		return trace.Write(f, ranks)
	}
	packed := gzip.NewWriter(f)
	sum, err = trace.Write(packed, ranks)
	return sum, errors.Join(err, packed.Close())
}

// traceText says what is in the trace and what is not.
func (j *job) traceText(sum *trace.Summary, ranks int, silent []int) string {
	var b strings.Builder
	if ranks == 0 {
		fmt.Fprintf(&b, "strand run: %s has no events: nothing was recorded, since no rank has come through its start with Strand: "+
			"the program has ended before, does not use Strand, is of another version, or its host is lost\n", j.config.Trace)
		return b.String()
	}
	fmt.Fprintf(&b, "strand run: %s has %d events of %d ranks, %d messages from their send to their receive: open it at https://ui.perfetto.dev or chrome://tracing\n",
		j.config.Trace, sum.Events, ranks, sum.Arrows)
	if len(silent) > 0 {
		fmt.Fprintf(&b, "strand run: nothing was recorded by %s: such a program does not use Strand, is of another version, or its host is lost\n", nameRanks(silent))
	}
	if len(sum.Dropped) > 0 {
		most := uint64(0)
		var who []int
		for rank, n := range sum.Dropped {
			most, who = max(most, n), append(who, rank)
		}
		slices.Sort(who)
		fmt.Fprintf(&b, "strand run: it has the last events only of %s, where up to %d older ones were dropped: --trace-buffer (%s) says how many are kept\n",
			nameRanks(who), most, param.FormatSize(j.config.traceSize()))
	}
	for i := range sum.Clocks {
		if i > 0 {
			fmt.Fprintf(&b, "strand run: %s\n", sum.Clocks[i].Text())
		}
	}
	return b.String()
}
