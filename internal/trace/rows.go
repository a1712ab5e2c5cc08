package trace

import "container/heap"

// rows are those of a class, from 0 on. What is in one of them comes after another.
type rows struct {
	busy, free rowHeap // by when they end, and by their numbers
	all        int
}

// take takes the first row that is free from one time until another one. Calls come in the order of the first. It reports whether no
// span has had the row before.
func (r *rows) take(begin, end int64) (row int, another bool) {
	for len(r.busy) > 0 && r.busy[0].key <= begin {
		row := heap.Pop(&r.busy).(keyedRow).row
		heap.Push(&r.free, keyedRow{int64(row), row})
	}
	if another = len(r.free) == 0; another {
		row = r.all
		r.all++
	} else {
		row = heap.Pop(&r.free).(keyedRow).row
	}
	heap.Push(&r.busy, keyedRow{end, row})
	return row, another
}

// A keyedRow is a row and what it is sorted by.
type keyedRow struct {
	key int64
	row int
}

// A rowHeap has the row with the least key first.
type rowHeap []keyedRow

func (h rowHeap) Len() int           { return len(h) }
func (h rowHeap) Less(i, j int) bool { return h[i].key < h[j].key }
func (h rowHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *rowHeap) Push(x any)        { *h = append(*h, x.(keyedRow)) }
func (h *rowHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
