package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/strandmp/strand"
)

// run is what was measured.
type run struct {
	bytes           int64
	together, alone time.Duration
}

// report prints the outcome for people.
func report(w *strand.World, c config, t *tally, r run) {
	out := c.out
	all := make(counts)
	for _, k := range t.words {
		all.merge(k)
	}
	reportKinds(out, t)
	reportWords(out, all.top(c.top))
	reportSpeed(out, w, c, r)
	reportTransports(out, w)
	fmt.Fprintf(out, "\nverified: both counts agree on %s words, %s of them different\n",
		grouped(all.words()), grouped(uint64(len(all))))
	reportNext(out, w)
}

func reportKinds(out io.Writer, t *tally) {
	table := newTable(out, "kind", "files", "size", "words", "different")
	for k := range kinds {
		if t.files[k] > 0 {
			row(table, k.String(), grouped(uint64(t.files[k])), megabytes(t.bytes[k]),
				grouped(t.words[k].words()), grouped(uint64(len(t.words[k]))))
		}
	}
	flush(table)
}

func reportWords(out io.Writer, top []frequency) {
	if len(top) == 0 {
		return
	}
	const widest = 40
	table := newTable(out, "word", "times", "")
	for _, f := range top {
		bar := strings.Repeat("▇", int(max(1, f.n*widest/top[0].n)))
		fmt.Fprintf(table, "  %s\t%s\t %s\n", f.word, grouped(f.n), bar)
	}
	flush(table)
}

func reportSpeed(out io.Writer, w *strand.World, c config, r run) {
	workers := max(1, w.Size()-1)
	table := newTable(out, "counted by", "time", "speed")
	row(table, fmt.Sprintf("%d × worker, %d files ahead", workers, c.ahead), seconds(r.together), rate(r.bytes, r.together))
	row(table, "one process, no messages", seconds(r.alone), rate(r.bytes, r.alone))
	flush(table)
}

// load is what one transport has carried, for rank 0.
type load struct {
	peers          int
	sent, received uint64 // messages
	out, in        uint64 // bytes of messages
	calls          uint64 // system calls
}

func reportTransports(out io.Writer, w *strand.World) {
	loads := make(map[string]load)
	for _, r := range w.Rails() {
		l := loads[r.Component]
		l.peers++
		l.sent += r.Traffic.Sent
		l.received += r.Traffic.Received
		l.out += r.Traffic.BytesSent
		l.in += r.Traffic.BytesReceived
		l.calls += r.Counters.SendCalls + r.Counters.ReceiveCalls
		loads[r.Component] = l
	}
	table := newTable(out, "transport", "peers", "messages out", "in", "data out", "in", "system calls")
	for _, name := range slices.Sorted(maps.Keys(loads)) {
		l := loads[name]
		row(table, name, strconv.Itoa(l.peers), grouped(l.sent), grouped(l.received),
			megabytes(int64(l.out)), megabytes(int64(l.in)), grouped(l.calls))
	}
	flush(table)
}

func reportNext(out io.Writer, w *strand.World) {
	fmt.Fprint(out, "\nnext: ")
	if w.Launcher() == "none" {
		fmt.Fprintf(out, "with more processes: strand run -n 4 --btl tcp,self %s\n", os.Args[0])
		return
	}
	fmt.Fprintf(out, "another directory, %[1]s -dir /usr/share/doc;\n"+
		"      another transport, strand run -n 4 --btl sctp,self %[1]s;\n"+
		"      another launcher, mpiexec.hydra -n 4 %[1]s\n", os.Args[0])
}

func newTable(out io.Writer, heads ...string) *tabwriter.Writer {
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row(table, heads...)
	return table
}

// flush ends a table. A report that can not be written has no better place for
// saying so.
func flush(table *tabwriter.Writer) { _ = table.Flush() }

// row writes a row whose first cell is flush left.
func row(table io.Writer, cells ...string) {
	fmt.Fprintf(table, "  %s\t\n", strings.Join(cells, "\t"))
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func rate(bytes int64, d time.Duration) string {
	return fmt.Sprintf("%.0f MB/s", float64(bytes)/1e6/d.Seconds())
}

// grouped writes a number with a comma before each three digits.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
