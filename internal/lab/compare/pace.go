package compare

import "time"

// A pace estimates how long the rest takes. Runs to come are taken to last as long as those that the variant had in the same cell. The
// variants take turns, so where it had none they are like those of the others there. A cell that has had none is taken to be like the
// other cells.
type pace struct {
	left, done int
	runs       map[[2]int]*stretch // by cell and variant
	cells      map[int]*stretch
	all        stretch
}

// A stretch is a number of runs: those that are done, and those that are to come.
type stretch struct {
	took  time.Duration
	count int
	left  int
}

func (p *pace) expect(turns []turn) {
	p.runs, p.cells = map[[2]int]*stretch{}, map[int]*stretch{}
	for _, t := range turns {
		key := [2]int{t.cell, t.variant}
		if p.runs[key] == nil {
			p.runs[key] = &stretch{}
		}
		if p.cells[t.cell] == nil {
			p.cells[t.cell] = &stretch{}
		}
		p.runs[key].left++
		p.left++
	}
}

// skip notes that so many runs of a variant in a cell will not take place.
func (p *pace) skip(t turn, runs int) {
	p.runs[[2]int{t.cell, t.variant}].left -= runs
	p.left -= runs
}

func (p *pace) took(t turn, d time.Duration) {
	p.skip(t, 1)
	p.done++
	for _, s := range []*stretch{p.runs[[2]int{t.cell, t.variant}], p.cells[t.cell], &p.all} {
		s.took += d
		s.count++
	}
}

// state returns how many runs are done, of how many, and about how long the rest takes,
// or a negative time.
func (p *pace) state() (done, all int, left time.Duration) {
	if p.all.count == 0 {
		return p.done, p.done + p.left, -1
	}
	for key, s := range p.runs {
		like := s
		for _, other := range []*stretch{p.cells[key[0]], &p.all} {
			if like.count == 0 {
				like = other
			}
		}
		left += like.took / time.Duration(like.count) * time.Duration(s.left)
	}
	return p.done, p.done + p.left, left
}
