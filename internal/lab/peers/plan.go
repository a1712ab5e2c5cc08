package peers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/lab/bench"
	"github.com/strandmp/strand/internal/lab/stats"
)

// A Table is cells of one kind over one transport, and what they took.
type Table struct {
	Transport string `json:"transport"`
	Name      string `json:"name"`
	Rows      []Row  `json:"rows"`
}

// Path names the table: tcp/stream.
func (t *Table) Path() string { return t.Transport + "/" + t.Name }

// A Row is a cell and what it took each contender in each round, in microseconds a message; 0: it
// has none; failedTime: it failed there. Contenders are named by [Contender.Key].
type Row struct {
	bench.Cell
	Times     map[string][]float64 `json:"times,omitempty"`
	Processor map[string][]float64 `json:"processor,omitempty"`
}

// failedTime stands for the time of who failed in a cell, in place of one.
const failedTime = -1

// Names of tables. A depth is a stream with another window.
const (
	pingpong = "pingpong"
	stream   = "stream"
	rate     = "rate"
	burst    = "burst"
	pairs    = "pairs"
	depth    = "depth"
)

// Transports of Strand that are measured, and which names the parameter btl gets for it.
const (
	sm  = "sm"
	tcp = "tcp"
)

// tableNames are in the order of the page.
var tableNames = []string{pingpong, stream, rate, burst, pairs, depth}

// label is where a row stands in its table: 8K, 20ms/64K, 4/8, 16/64K.
func (t *Table) label(c bench.Cell) string {
	size := bench.FormatSize(c.Size)
	switch t.Name {
	case burst:
		return c.Pause.String() + "/" + size
	case pairs:
		return strconv.Itoa(c.Pairs) + "/" + size
	case depth:
		return strconv.Itoa(c.Window) + "/" + size
	}
	return size
}

// Plan returns the tables that are measured, without figures. Quick has fewer cells. If only is not
// empty it has the paths of the tables that are wanted, or the names of transports.
func Plan(quick bool, only []string) ([]Table, error) {
	var all []Table
	used := map[string]bool{}
	for _, transport := range Transports() {
		for _, name := range tableNames {
			t := Table{Transport: transport, Name: name}
			if !wanted(&t, only, used) {
				continue
			}
			for _, c := range cells(transport, name, quick) {
				t.Rows = append(t.Rows, Row{Cell: c})
			}
			all = append(all, t)
		}
	}
	for _, o := range only {
		if !used[o] {
			return nil, fmt.Errorf("--only %s: want %s or %s, or one of their tables such as %s/%s; there are %s", o, sm, tcp, tcp, stream, strings.Join(tableNames, ", "))
		}
	}
	return all, nil
}

func wanted(t *Table, only []string, used map[string]bool) bool {
	is := len(only) == 0
	for _, o := range only {
		if o == t.Transport || o == t.Path() {
			is, used[o] = true, true
		}
	}
	return is
}

func cells(transport, name string, quick bool) []bench.Cell {
	one := []int{1}
	pick := func(full, quickly string) []int {
		if quick {
			full = quickly
		}
		sizes, err := bench.ParseSizes(full)
		if err != nil {
			panic("peers: sizes of its own: " + err.Error())
		}
		return sizes
	}
	switch name {
	case pingpong:
		return bench.Cells(bench.PingPong, one, one, 0, pick("1:4M", "8,4K,64K,1M"))
	case stream:
		return bench.Cells(bench.Stream, one, []int{64}, 0, pick("1:4M", "8,4K,64K,1M"))
	case rate:
		return bench.Cells(bench.Rate, one, []int{64}, 0, pick("8,64,512,4K", "8"))
	case pairs:
		return bench.Cells(bench.Pairs, pick("2,4,8", "2,4"), []int{64}, 0, pick("8,64K", "8"))
	case depth:
		return bench.Cells(bench.Stream, one, pick("1:256", "1,16,256"), 0, pick("8,4K,64K", "8,64K"))
	}
	var all []bench.Cell
	for _, pause := range pauses(transport, quick) {
		all = append(all, bench.Cells(bench.Burst, one, []int{16}, pause, pick("4K,16K,64K,128K,256K,1M", "16K,128K,1M"))...)
	}
	return all
}

// pauses are those before bursts. Long ones take long, and show what a library does with sockets
// while the program computes.
func pauses(transport string, quick bool) []time.Duration {
	all := []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 200 * time.Millisecond}
	if quick || transport == sm {
		return slices.Delete(all, 3, 4)
	}
	return all
}

// blocks is how many blocks of a cell a contender has in a round: one where a block is long.
func blocks(c bench.Cell) int {
	switch {
	case c.Workload == bench.Burst && c.Pause > 10*time.Millisecond, c.Size*c.Window > 64<<20:
		return 1
	case c.Workload == bench.Burst, c.Workload == bench.Pairs, c.Size*c.Window > 4<<20:
		return 3
	}
	return 5
}

// Rounds is how many rounds there are unless somebody says otherwise: the fewest that decide, or
// the fewest whose interval may leave out one at each end.
func Rounds(quick bool) int {
	if quick {
		return stats.Enough
	}
	return 9
}

// Limit is how long a measurement may take unless somebody says otherwise.
func Limit(quick bool) time.Duration {
	if quick {
		return 6 * time.Minute
	}
	return 25 * time.Minute
}

// Transports are those that are measured.
func Transports() []string { return []string{sm, tcp} }

// TableNames are what Plan takes for only: transports, and tables of theirs.
func TableNames() []string {
	names := Transports()
	for _, transport := range Transports() {
		for _, name := range tableNames {
			names = append(names, (&Table{Transport: transport, Name: name}).Path())
		}
	}
	return names
}

// Memory tells whether the others may use shared memory beside a transport.
func Memory(transport string) bool { return transport == sm }

// Names are the peers that there are.
func Names() []string { return slices.Clone(peerNames) }

// Beside are those of some peers that can do what a transport does. Raw sockets are TCP.
func Beside(transport string, against []string) []string {
	return slices.DeleteFunc(slices.Clone(against), func(name string) bool { return Memory(transport) && name == "raw" })
}
