package compare

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/results"
)

// A Plan is what is to be compared.
type Plan struct {
	Variants []Variant // the others are compared with the first that can run
	Tasks    []Task
	Links    []emulate.Link
	Nets     []Net   // of several networks between the hosts, what each has otherwise than the link
	Counts   []int64 // of networks; nil: as many as Nets, or one
	Ranks    int
	Runs     int // of each variant in each cell
	Seed     uint64
	By       []string      // metrics to compare by, where not by the headline
	MTU      int           // of the networks, in bytes
	Timeout  time.Duration // of one run

	// Pins are what all variants have alike, unless one says otherwise.
	Pins Pins
}

// Bounds of a plan: more is a slip of the finger.
const (
	maxRuns  = 10_000
	maxTurns = 1_000_000
)

// Check returns what is wrong with a plan.
func (p *Plan) Check() error {
	switch {
	case len(p.Variants) == 0 || len(p.Tasks) == 0 || len(p.Links) == 0:
		return errors.New("nothing to compare: give at least one transport, one workload and one network")
	case p.Ranks < 2 || p.Ranks > emulate.MaxHosts:
		return fmt.Errorf("--ranks %d: want 2 to %d", p.Ranks, emulate.MaxHosts)
	case p.Runs < 1 || p.Runs > maxRuns:
		return fmt.Errorf("--runs %d: want 1 to %d", p.Runs, maxRuns)
	case p.MTU < emulate.MinMTU || p.MTU > emulate.MaxMTU:
		return fmt.Errorf("--mtu %d: want %d to %d", p.MTU, emulate.MinMTU, emulate.MaxMTU)
	case p.Timeout <= 0:
		return fmt.Errorf("--timeout %v: want a time above 0, such as 1m", p.Timeout)
	}
	for _, t := range p.Tasks {
		if err := t.permits(p.Ranks); err != nil {
			return fmt.Errorf("--ranks %d: workload %s: %w", p.Ranks, t.Spec.Name, err)
		}
	}
	for _, l := range p.Links {
		if err := checkLink(l); err != nil {
			return err
		}
	}
	if err := p.checkNets(); err != nil {
		return err
	}
	if err := p.checkReport(); err != nil {
		return err
	}
	return p.Pins.check()
}

// checkReport refuses a plan whose results would be more than a report can have.
func (p *Plan) checkReport() error {
	variants, networks := len(p.Variants), len(p.Links)*len(p.counts())
	cells := len(p.Tasks) * networks
	switch {
	case variants > results.MaxVariants:
		return fmt.Errorf("--btl: %d variants: want at most %d", variants, results.MaxVariants)
	case cells > results.MaxCells:
		return fmt.Errorf("%d workloads over %d networks are %d cells: want at most %d", len(p.Tasks), networks, cells, results.MaxCells)
	case variants*p.Runs > results.MaxRunsACell:
		return fmt.Errorf("--runs %d: of %d variants these are %d runs in each cell: want at most %d", p.Runs, variants, variants*p.Runs, results.MaxRunsACell)
	case variants*cells*p.Runs > maxTurns:
		return fmt.Errorf("%d runs of %d variants in %d cells are %d: want at most %d", p.Runs, variants, cells, variants*cells*p.Runs, maxTurns)
	}
	for _, v := range p.Variants {
		if len(v.Name) > results.MaxName {
			return fmt.Errorf("--btl: %.40s… has %d bytes: want at most %d for a transport with its parameters", v.Name, len(v.Name), results.MaxName)
		}
		if err := results.CheckParams(v.Params); err != nil {
			return fmt.Errorf("--btl %s: %w", v.Name, err)
		}
	}
	if err := results.CheckParams(p.Pins.Common); err != nil {
		return fmt.Errorf("-p: %w", err)
	}
	return nil
}

// checkLink refuses a link that is wrong, and one that lets nothing through.
func checkLink(l emulate.Link) error {
	if err := l.Check(); err != nil {
		return err
	}
	if l.Loss.Share() >= 1 {
		return fmt.Errorf("--loss %v: nothing would get through; want less than 100%%", l.Loss)
	}
	return nil
}

// Connections over the longest way have so many round trips to be made, if that is more than transports have by themselves. The
// proof takes some of them, and more where frames are lost. What else waits for a peer has as much then, or more (Pins).
const (
	tripsToConnect = 10
	usualPatience  = 10 * time.Second
)

// patience is how long a connection may take to be made; 0: what transports have by themselves is enough.
func (p *Plan) patience() time.Duration {
	longest := time.Duration(0)
	for _, networks := range p.Wanted() {
		for _, n := range networks {
			longest = max(longest, n.Delay+n.Jitter+2*p.frameTime(n.Rate)) // both hosts have that rate
		}
	}
	if all := tripsToConnect * 2 * longest; all > usualPatience {
		return all
	}
	return 0
}

// frameTime is how long the longest frame takes at a rate; 0 is no bound.
func (p *Plan) frameTime(rate emulate.Rate) time.Duration {
	if rate == 0 {
		return 0
	}
	return time.Duration(float64(p.MTU+emulate.EthernetHeader) * 8 / float64(rate) * float64(time.Second))
}

// cells returns the cells in the order in which they run, and each one's task. The networks of
// one workload follow each other. Where networks are not emulated, cells that would differ in
// nothing else become one.
func (p *Plan) cells(ground Ground) ([]results.Cell, []*Task) {
	var cells []results.Cell
	var tasks []*Task
	for i := range p.Tasks {
		t := &p.Tasks[i]
		bare := false
		for _, l := range p.Links {
			for _, count := range p.counts() {
				cell := results.Cell{Workload: results.WorkloadName(t.Spec.Name), Params: t.Params, Ranks: t.ranks(p.Ranks), Networks: p.networks(count, l), Runs: []results.Run{}}
				cell.Link, cell.Unable = offer(ground, t.Spec.Name, l, cell.Networks)
				if cell.Link == nil && bare {
					continue
				}
				bare = bare || cell.Link == nil
				cells = append(cells, cell)
				tasks = append(tasks, t)
			}
		}
	}
	return cells, tasks
}

// offer returns what a ground has for a link and for the several networks of a cell. If the
// ground lacks one of the networks, unable says why the cell can not run.
func offer(ground Ground, workload string, l emulate.Link, networks []emulate.Network) (got *emulate.Link, unable string) {
	got, unable = ground.Offer(workload, l)
	for _, n := range networks {
		if one, why := ground.Offer(workload, n.Link); one == nil || why != "" {
			return &l, cmp.Or(why, unable, "needs emulated networks, several of them, which are not to be had here")
		}
	}
	return got, unable
}

// A turn is a run to come.
type turn struct {
	cell, variant, round int
}

// turns returns all runs in their order. Within a cell the variants rotate, A B C, B C A, C A B,
// so that none is always the first of a round, or the last.
func turns(cells, variants, runs int) []turn {
	all := make([]turn, 0, cells*variants*runs)
	for cell := range cells {
		for round := range runs {
			for place := range variants {
				all = append(all, turn{cell, (place + round) % variants, round})
			}
		}
	}
	return all
}

// seedOf returns the seed of a round's networks. Each round has its own. All variants and all
// cells share it, so cells that differ in their loss rates have related losses.
func seedOf(seed uint64, round int) uint64 {
	// SplitMix64 (Steele, Lea, Flood 2014): neighbours share nothing.
	x := seed + (uint64(round)+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
