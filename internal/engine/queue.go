package engine

// waiterQueue is the waiters that are parked on their channels, first in, first out. Any
// of them leaves it at the same cost, however many there are.
type waiterQueue struct{ first, last *waiter }

func (q *waiterQueue) push(w *waiter) {
	w.queued, w.prev = true, q.last
	if q.last == nil {
		q.first = w
	} else {
		q.last.next = w
	}
	q.last = w
}

// remove takes a waiter out, if it is in the queue.
func (q *waiterQueue) remove(w *waiter) {
	if !w.queued {
		return
	}
	if w.prev == nil {
		q.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.queued, w.next, w.prev = false, nil, nil
}
