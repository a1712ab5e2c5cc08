package compare

import "time"

// A pace foretells how long the rest takes. Runs of a cell are taken to last as long as those
// that it had, whatever their variant, since the variants take turns; a cell that has had none
// is taken to be like those that were.
type pace struct {
	left, done int
	byCell     map[int]*stretch
	all        stretch
}

// A stretch is some runs: those that were, and those that are to come.
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

// skip is for a run that will not be.
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
