package stream

// turns are the queues that have something, as a heap: the one whose turn it is stands first.
type turns []*queue

// before reports whether a queue is served before another one. Turns wrap around.
func (q *queue) before(other *queue) bool {
	if q.place != other.place {
		return q.place < other.place
	}
	return int64(q.turn-other.turn) < 0
}

func (t *turns) add(q *queue) {
	q.index = len(*t)
	*t = append(*t, q)
	t.up(q.index)
}

func (t *turns) remove(q *queue) {
	last, i := len(*t)-1, q.index
	t.swap(i, last)
	(*t)[last] = nil
	*t = (*t)[:last]
	if i < last {
		t.fix(i)
	}
}

// fix puts a queue whose turn has changed into its place.
func (t turns) fix(i int) {
	t.up(i)
	t.down(i)
}

func (t turns) up(i int) {
	for i > 0 && t[i].before(t[(i-1)/2]) {
		t.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (t turns) down(i int) {
	for {
		next := 2*i + 1
		if next >= len(t) {
			return
		}
		if next+1 < len(t) && t[next+1].before(t[next]) {
			next++
		}
		if !t[next].before(t[i]) {
			return
		}
		t.swap(i, next)
		i = next
	}
}

func (t turns) swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}
