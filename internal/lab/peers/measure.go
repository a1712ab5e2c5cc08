package peers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/strandmp/strand/internal/lab/bench"
	"github.com/strandmp/strand/internal/lab/stats"
)

// A Measurement fills a report.
type Measurement struct {
	Report *Report
	Setups map[string]bench.Setup // of a transport
	Rounds int                    // together with those that the report has
	// Limit ends the measurement before a round that would take longer; 0: none.
	Limit time.Duration

	// Save, if not nil, is called after each round.
	Save func() error
	// Progress, if not nil, is told how many of all blocks are done.
	Progress func(done, total int)

	order       func(bench.Cell) bench.Order // nil: orderOf
	sets        []set
	rows        int // of all sets
	done, total int // blocks

	roundBegan time.Time
	rowsLeft   int // of this round
}

// A set is what the same processes do: the cells of a transport with as many pairs.
type set struct {
	transport  string
	pairs      int
	contenders []bench.Contender
	rows       []*Row
}

func (m *Measurement) orderFor(c bench.Cell) bench.Order {
	if m.order != nil {
		return m.order(c)
	}
	return orderOf(c)
}

// orderOf is a block of a cell. It is warm soon, since the cell before was much like it. There are
// many rounds, so a block after long computing has few bursts.
func orderOf(c bench.Cell) bench.Order {
	o := c.Block()
	o.Warmup = min(o.Warmup, max(60, o.Iters/4))
	if c.Workload == bench.Burst && c.Pause > 10*time.Millisecond {
		o.Warmup, o.Iters = 0, min(2, max(1, int(50*time.Millisecond/c.Pause)))
	}
	return o
}

// orderTimeout is how long a contender may take for one block.
const orderTimeout = 30 * time.Second

// mostNotes bounds what a report tells of failures.
const mostNotes = 20

// Run measures. What is done when the context ends, or the limit is near, stays.
func (m *Measurement) Run(ctx context.Context) error {
	if err := m.prepare(ctx); err != nil {
		return err
	}
	start, longest := time.Now(), time.Duration(0)
	for len(m.Report.Rounds) < m.Rounds {
		if m.Limit > 0 && longest > 0 && time.Since(start)+longest > m.Limit {
			m.note("ended after %d of %d rounds: the limit of %v was near", len(m.Report.Rounds), m.Rounds, m.Limit)
			break
		}
		began := time.Now()
		if err := m.round(ctx); err != nil {
			return err
		}
		longest = max(longest, time.Since(began))
		if m.Save != nil {
			if err := m.Save(); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepare finds out who takes part, and puts cells into sets.
func (m *Measurement) prepare(ctx context.Context) error {
	m.Report.Contenders, m.Report.Missing = nil, nil
	blocksOfRound := 0
	for i := range m.Report.Tables {
		t := &m.Report.Tables[i]
		for j := range t.Rows {
			s, err := m.setFor(ctx, t.Transport, t.Rows[j].Cell)
			if err != nil {
				return err
			}
			s.rows = append(s.rows, &t.Rows[j])
			m.rows++
			blocksOfRound += blocks(t.Rows[j].Cell) * len(s.contenders)
		}
	}
	m.done, m.total = blocksOfRound*len(m.Report.Rounds), blocksOfRound*m.Rounds
	return nil
}

func (m *Measurement) setFor(ctx context.Context, transport string, c bench.Cell) (*set, error) {
	for i := range m.sets {
		if m.sets[i].transport == transport && m.sets[i].pairs == c.Pairs {
			return &m.sets[i], nil
		}
	}
	contenders, err := m.contenders(ctx, transport, c)
	if err != nil {
		return nil, err
	}
	m.sets = append(m.sets, set{transport: transport, pairs: c.Pairs, contenders: contenders})
	return &m.sets[len(m.sets)-1], nil
}

// contenders are Strand and the peers that there are here. Who is not has its reason in the report.
func (m *Measurement) contenders(ctx context.Context, transport string, c bench.Cell) ([]bench.Contender, error) {
	setup := m.Setups[transport]
	all := []bench.Contender{setup.Strand()}
	for _, name := range setup.Against {
		own := filepath.Join(setup.Dir, fmt.Sprintf("%s-%s-%d", transport, name, c.Pairs))
		if err := os.Mkdir(own, 0o700); err != nil {
			return nil, err
		}
		some, err := setup.Peer(ctx, name, c.Workload, own)
		if err != nil {
			if why := err.Error(); !slices.Contains(m.Report.Missing, why) {
				m.Report.Missing = append(m.Report.Missing, why)
			}
			continue
		}
		all = append(all, some...)
	}
	for _, b := range all[1:] {
		contender := Contender{transport, b.Name, b.Variant, b.About}
		if !slices.Contains(m.Report.Contenders, contender) {
			m.Report.Contenders = append(m.Report.Contenders, contender)
		}
	}
	return all, nil
}

// taken is what the contenders took in a round, by row and key. It becomes part of the report when
// the round has ended.
type taken map[*Row]map[string]figures

// figures are of a message, in microseconds.
type figures struct{ time, processor float64 }

func (m *Measurement) round(ctx context.Context) error {
	got := taken{}
	m.roundBegan, m.rowsLeft = time.Now(), m.rows
	load, before := loadAverage(), lookAtProcessors()
	for i := range m.sets {
		if err := m.measure(ctx, &m.sets[i], got); err != nil {
			return err
		}
	}
	after := lookAtProcessors()
	m.Report.addRound(Round{Seconds: round4(after.at.Sub(before.at).Seconds()), Load: load, Others: round4(after.others(before))}, got)
	return nil
}

// addRound appends what was taken. Who has nothing in a cell has 0 there.
func (r *Report) addRound(round Round, got taken) {
	n := len(r.Rounds)
	r.Rounds = append(r.Rounds, round)
	for i := range r.Tables {
		for j := range r.Tables[i].Rows {
			row := &r.Tables[i].Rows[j]
			if row.Times == nil {
				row.Times, row.Processor = map[string][]float64{}, map[string][]float64{}
			}
			for key, f := range got[row] {
				row.Times[key] = append(padded(row.Times[key], n), round4(f.time))
				row.Processor[key] = append(padded(row.Processor[key], n), round4(f.processor))
			}
		}
	}
}

// padded makes a slice that long.
func padded(values []float64, n int) []float64 {
	return append(values, make([]float64, max(0, n-len(values)))...)
}

// measure starts all contenders of a set and has them take turns.
func (m *Measurement) measure(ctx context.Context, s *set, got taken) (err error) {
	jobs := make([]bench.Job, len(s.contenders))
	defer func() {
		for i, j := range jobs {
			if j != nil {
				m.failed(s, i, j.Close())
			}
		}
	}()
	for i := range s.contenders {
		j, err := s.contenders[i].Start(ctx, 2*s.pairs)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			jobs[i] = j
		}
		m.failed(s, i, err)
	}
	for _, row := range s.rows {
		if err := m.turns(ctx, s, jobs, row, got); err != nil {
			return err
		}
	}
	return nil
}

// turns has all contenders run the blocks of a cell, in turn. Who fails is out for the rest of the
// round.
func (m *Measurement) turns(ctx context.Context, s *set, jobs []bench.Job, row *Row, got taken) error {
	o := m.orderFor(row.Cell)
	sample, failedHere := make([][]figures, len(jobs)), make([]bool, len(jobs))
	began, patience := time.Now(), m.patience()
	m.rowsLeft--
	for block := range blocks(row.Cell) {
		if block > 0 && time.Since(began) > patience {
			m.report(len(jobs) * (blocks(row.Cell) - block))
			break
		}
		for turn := range jobs {
			m.report(1)
			i := (turn + block + len(m.Report.Rounds)) % len(jobs)
			if jobs[i] == nil {
				continue
			}
			limited, cancel := context.WithTimeoutCause(ctx, orderTimeout, fmt.Errorf("%v: no end after %v", o, orderTimeout))
			outcome, err := jobs[i].Run(limited, o)
			cancel()
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				m.failed(s, i, errors.Join(err, jobs[i].Close()))
				jobs[i], failedHere[i] = nil, true
				continue
			}
			sample[i] = append(sample[i], figures{o.PerMessage(outcome.Took), o.PerMessage(outcome.Processor)})
		}
	}
	got[row] = map[string]figures{}
	for i, all := range sample {
		c := Contender{Name: s.contenders[i].Name, Variant: s.contenders[i].Variant}
		switch {
		case failedHere[i]:
			got[row][c.Key()] = figures{time: failedTime}
		case jobs[i] != nil:
			got[row][c.Key()] = middle(all)
		}
	}
	return nil
}

// patience is the time after which no further block of a cell begins in this round: the cell's share
// of what is left of the round, if there is a limit. It leaves room for as many rounds as decide.
func (m *Measurement) patience() time.Duration {
	const most = 1500 * time.Millisecond
	if m.Limit == 0 {
		return most
	}
	left := time.Until(m.roundBegan.Add(m.Limit / stats.Enough))
	return min(most, left/time.Duration(max(1, m.rowsLeft)))
}

// middle are the medians of a contender's blocks.
func middle(blocks []figures) figures {
	var times, processor []float64
	for _, b := range blocks {
		times, processor = append(times, b.time), append(processor, b.processor)
	}
	return figures{stats.Median(times), stats.Median(processor)}
}

func (m *Measurement) report(blocks int) {
	m.done += blocks
	if m.Progress != nil {
		m.Progress(m.done, m.total)
	}
}

// failed notes that a contender has failed, if it has.
func (m *Measurement) failed(s *set, contender int, err error) {
	if err != nil {
		c := s.contenders[contender]
		m.note("round %d, %s, %d pairs: %s %s: %.400s", len(m.Report.Rounds)+1, s.transport, s.pairs, c.Name, c.Variant, err)
	}
}

func (m *Measurement) note(format string, args ...any) {
	if len(m.Report.Notes) < mostNotes {
		m.Report.Notes = append(m.Report.Notes, fmt.Sprintf(format, args...))
	}
}

// round4 keeps four digits: no figure here is better, and files stay small.
func round4(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}
