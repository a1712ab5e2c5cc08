package compare

import "time"

// A pace estimates how long the rest takes. The variants take turns, so the runs to come in a
// cell are taken to last as long as those that it had, of any variant. A cell that has had none
// is taken to be like the others.
type pace struct {
	left, done int
	byCell     map[int]*stretch
	all        stretch
}

// A stretch is a number of runs: those that are done, and those that are to come.
type stretch struct {
	took  time.Duration
	count int
	left  int
}

func (p *pace) expect(turns []turn) {
	p.byCell = map[int]*stretch{}
	for _, t := range turns {
		if p.byCell[t.cell] == nil {
			p.byCell[t.cell] = &stretch{}
		}
		p.byCell[t.cell].left++
		p.left++
	}
}

// skip notes that a run will not take place.
func (p *pace) skip(t turn) {
	p.byCell[t.cell].left--
	p.left--
}

func (p *pace) took(t turn, d time.Duration) {
	p.skip(t)
	p.done++
	for _, s := range []*stretch{p.byCell[t.cell], &p.all} {
		s.took += d
		s.count++
	}
}

// state returns how many runs are done, of how many, and about how long the rest takes,
// or a negative time.
func (p *pace) state() (done, all int, left time.Duration) {
	for _, s := range p.byCell {
		like := s
		if s.count == 0 {
			like = &p.all
		}
		if like.count > 0 {
			left += like.took / time.Duration(like.count) * time.Duration(s.left)
		}
	}
	if p.all.count == 0 {
		left = -1
	}
	return p.done, p.done + p.left, left
}
