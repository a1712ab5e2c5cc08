package programs

// ordering is a set of events and of pairs of which one must come before the
// other. Events are the ticks of a clock, which follow each other, and the
// matches or withdrawals of receptions.
type ordering struct {
	clock int
	nodes map[*reception]int
	whose []*reception // by node; nil for ticks
	after [][]int      // by node
}

func newOrdering(clock int) *ordering {
	o := &ordering{clock: clock, nodes: make(map[*reception]int)}
	for t := range clock + 2 {
		o.node(nil)
		if t > 0 {
			o.after[t-1] = append(o.after[t-1], t)
		}
	}
	return o
}

func (o *ordering) node(r *reception) int {
	o.whose, o.after = append(o.whose, r), append(o.after, nil)
	return len(o.whose) - 1
}

// place enters a reception between the ticks that it is known to lie between.
func (o *ordering) place(r *reception) {
	n := o.node(r)
	o.nodes[r] = n
	from, to := r.posted, r.done
	if r.cancelled > 0 {
		from, to = r.cancelled, r.gone
	}
	o.after[from] = append(o.after[from], n)
	if to > 0 {
		o.after[n] = append(o.after[n], to)
	}
}

// before enters that a must come before b.
func (o *ordering) before(a, b *reception) {
	n := o.nodes[a]
	o.after[n] = append(o.after[n], o.nodes[b])
}

// circle returns the receptions of a circle, in order, or nil if there is none.
func (o *ordering) circle() []*reception {
	const (
		unseen = iota
		open
		closed
	)
	state := make([]uint8, len(o.after))
	var path []int
	var visit func(n int) []int
	visit = func(n int) []int {
		state[n] = open
		path = append(path, n)
		for _, next := range o.after[n] {
			switch state[next] {
			case open:
				for i, p := range path {
					if p == next {
						return path[i:]
					}
				}
			case unseen:
				if c := visit(next); c != nil {
					return c
				}
			}
		}
		state[n] = closed
		path = path[:len(path)-1]
		return nil
	}
	for n := range o.after {
		if state[n] != unseen {
			continue
		}
		if c := visit(n); c != nil {
			var whose []*reception
			for _, n := range c {
				if o.whose[n] != nil {
					whose = append(whose, o.whose[n])
				}
			}
			return whose
		}
	}
	return nil
}
