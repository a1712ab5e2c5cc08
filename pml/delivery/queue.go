package delivery

// A Queue of frames is first in, first out. A frame is in one queue at most.
type Queue struct {
	head, tail *Frame
	len        int
}

// Len is the number of frames in the queue.
func (q *Queue) Len() int { return q.len }

// Head is the first frame, nil if there is none.
func (q *Queue) Head() *Frame { return q.head }

// Push adds a frame behind the others.
func (q *Queue) Push(f *Frame) {
	f.next = nil
	if q.tail == nil {
		q.head = f
	} else {
		q.tail.next = f
	}
	q.tail = f
	q.len++
}

// Pop takes the first frame out, nil if there is none.
func (q *Queue) Pop() *Frame {
	f := q.head
	if f != nil {
		if q.head = f.next; q.head == nil {
			q.tail = nil
		}
		f.next = nil
		q.len--
	}
	return f
}

// PushFront adds a frame before the others: the one that was popped last.
func (q *Queue) PushFront(f *Frame) {
	f.next, q.head = q.head, f
	if q.tail == nil {
		q.tail = f
	}
	q.len++
}

// All calls do for each frame, from the first on.
func (q *Queue) All(do func(*Frame) bool) {
	for f := q.head; f != nil && do(f); f = f.next {
		continue
	}
}
