package peers

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/lab/bench"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/stats"
	"github.com/strandmp/strand/internal/machine"
)

// format says by which rules a file was measured.
const format = 1

// A Report is what a measurement gave.
type Report struct {
	Format     int             `json:"format"`
	Commit     string          `json:"commit"`
	Command    string          `json:"command"`
	Quick      bool            `json:"quick,omitempty"`
	Began      time.Time       `json:"began"`
	Machine    machine.Machine `json:"machine"`
	Congestion string          `json:"congestion_control,omitempty"` // the kernel's default
	Contenders []Contender     `json:"contenders"`
	Missing    []string        `json:"missing,omitempty"` // who could not take part, and why
	Notes      []string        `json:"notes,omitempty"`   // what failed on the way
	Rounds     []Round         `json:"rounds"`
	Planned    int             `json:"planned_rounds"`
	Tables     []Table         `json:"tables"`
}

// A Contender is who took part, over one transport.
type Contender struct {
	Transport string `json:"transport"`
	Name      string `json:"name"`
	Variant   string `json:"variant,omitempty"`
	About     string `json:"about"`
}

// Key names the contender in rows.
func (c *Contender) Key() string { return strings.TrimSpace(c.Name + " " + c.Variant) }

const strandKey = "strand"

// peerNames are in the order of the columns.
var peerNames = []string{"raw", "openmpi", "mpich"}

func splitKey(key string) (name, variant string) {
	name, variant, _ = strings.Cut(key, " ")
	return name, variant
}

// A Round is what the machine did in a round.
type Round struct {
	Seconds float64 `json:"seconds"`
	Load    float64 `json:"load"`   // of the machine, over a minute, before it
	Others  float64 `json:"others"` // share of the processors that others had meanwhile
}

// table returns the table of a path, or nil.
func (r *Report) table(path string) *Table {
	for i := range r.Tables {
		if r.Tables[i].Path() == path {
			return &r.Tables[i]
		}
	}
	return nil
}

// comparisons are those of a table, or of all tables if t is nil.
func (r *Report) comparisons(t *Table) []Comparison {
	var all []Comparison
	for i := range r.Tables {
		if t != nil && t != &r.Tables[i] {
			continue
		}
		for j := range r.Tables[i].Rows {
			all = append(all, r.Tables[i].compare(&r.Tables[i].Rows[j], peerNames)...)
		}
	}
	return all
}

// Bounds beyond which a measurement says nothing.
const (
	mostOthers    = 0.10 // of the processors
	mostUndecided = 0.25 // of the ratios that have an aim, of those with rounds enough
)

// Problems say why the measurement is not valid; none if it is.
func (r *Report) Problems() []string {
	var all []string
	var others []float64
	for _, round := range r.Rounds {
		others = append(others, round.Others)
	}
	if m := slices.Sorted(slices.Values(others)); len(m) > 0 && m[len(m)/2] > mostOthers {
		all = append(all, fmt.Sprintf("other programs had %.0f %% of the processors in the middle round: at most %.0f %% are good for a verdict", 100*m[len(m)/2], 100*mostOthers))
	}
	if len(r.Rounds) < stats.Enough {
		return all // nothing is decided, and the page says why
	}
	undecided, aimed := 0, 0
	for _, c := range r.comparisons(nil) {
		if c.Verdict != NoAim {
			aimed++
		}
		if c.Verdict == Undecided {
			undecided++
		}
	}
	if float64(undecided) > mostUndecided*float64(aimed) {
		all = append(all, fmt.Sprintf("%d of %d ratios are not decided: they differ too much from round to round", undecided, aimed))
	}
	return all
}

// Save writes the file, whole or not at all.
func (r *Report) Save(file string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	// A line for each row: small, and a change can be read.
	text = []byte(strings.ReplaceAll(string(text), `{"workload"`, "\n"+`{"workload"`) + "\n")
	return writeWhole(file, text)
}

// writeWhole writes a file, whole or not at all.
func writeWhole(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return results.WriteFile(file, text)
}

// Load reads a file that Save wrote.
func Load(file string) (*Report, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: not what strand bench peers writes: %w", file, err)
	}
	if r.Format != format {
		return nil, fmt.Errorf("%s: format %d, which was measured by other rules: want %d", file, r.Format, format)
	}
	if len(r.Rounds) == 0 || len(r.Tables) == 0 || slices.ContainsFunc(r.Tables, func(t Table) bool { return len(t.Rows) == 0 }) {
		return nil, fmt.Errorf("%s: not what strand bench peers writes: it has no rounds, or tables without rows", file)
	}
	return &r, nil
}

// New is a report of tables without figures.
func New(tables []Table, rounds int) *Report {
	r := &Report{Format: format, Began: time.Now().UTC().Truncate(time.Second), Planned: rounds, Tables: tables}
	r.Congestion = bench.KernelCongestion()
	return r
}

// sameMachine tells whether another report was measured on a machine like this one's.
func (r *Report) sameMachine(other *Report) bool {
	return r.Machine == other.Machine && r.Congestion == other.Congestion
}

// GoesOnAs says why this report can not be gone on with as a fresh one, and takes over its number of
// rounds.
func (r *Report) GoesOnAs(fresh *Report) error {
	if r.Commit != fresh.Commit {
		return fmt.Errorf("--resume: the figures are of %s, this is %s: measure anew", r.Commit, fresh.Commit)
	}
	if !r.sameMachine(fresh) {
		return errors.New("--resume: the figures are of another machine, or of this one with another kernel, memory, processors, Go or congestion control: the page would say that all are of one; measure anew")
	}
	same := slices.EqualFunc(r.Tables, fresh.Tables, func(a, b Table) bool {
		return a.Path() == b.Path() && slices.EqualFunc(a.Rows, b.Rows, func(a, b Row) bool { return a.Cell == b.Cell })
	})
	if !same {
		return errors.New("--resume: the figures are of other cells: say --quick and --only as you did, or measure anew")
	}
	r.Planned = fresh.Planned
	return nil
}
