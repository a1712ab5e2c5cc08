package handoff

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/framing"
)

// A Bound is how many bytes may wait in the queues of one endpoint together. Queues share it, so
// that one stream that is stuck does not make the endpoint busy at once.
type Bound struct {
	group *Group
	limit int64
	ready func()
	held  atomic.Int64
	wants atomic.Bool // Send was refused, and ready is due
}

// NewBound bounds the waiting bytes: no frame is taken while limit or more wait. After a frame was
// refused ready is called in the loop, when at most half of limit wait. Ready is to lead to
// [btl.Receiver.Writable].
func NewBound(g *Group, limit int, ready func()) *Bound {
	return &Bound{group: g, limit: int64(limit), ready: ready}
}

// Held is how many bytes wait, or are being written.
func (b *Bound) Held() int { return int(b.held.Load()) }

// room reports whether another frame may be taken. If not, ready will be called.
func (b *Bound) room() bool {
	if b.held.Load() < b.limit {
		return true
	}
	// The writer looks at wants after it has made room. So if there is no room now, the writer
	// will see wants. If it has seen it already, ready is on its way.
	b.wants.Store(true)
	return b.held.Load() <= b.limit/2 && b.wants.CompareAndSwap(true, false)
}

func (b *Bound) made(n int) {
	if b.held.Add(int64(-n)) <= b.limit/2 && b.wants.CompareAndSwap(true, false) {
		b.group.Post(b.ready)
	}
}

// A Queue is what waits to be written to one stream. All methods but Write are the loop's;
// Write is the goroutine's.
type Queue struct {
	bound *Bound

	mu    sync.Mutex
	news  sync.Cond
	next  []byte
	ended bool // nothing follows
	cut   bool // and nothing is written any more
}

// kept is the most memory in bytes that an empty queue keeps for further use.
const kept = 64 << 10

// NewQueue makes the queue of a stream.
func NewQueue(b *Bound) *Queue {
	q := &Queue{bound: b}
	q.news.L = &q.mu
	return q
}

// Send copies a frame behind what waits, in the form of package framing. It returns
// [btl.Done], or [btl.Busy] if too much waits; it is for [btl.Endpoint.Send].
func (q *Queue) Send(f *btl.Frame) btl.Result {
	if !q.bound.room() {
		return btl.Busy
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ended {
		before := len(q.next)
		q.next = framing.Append(q.next, f)
		q.added(len(q.next) - before)
	}
	return btl.Done
}

// Say copies bytes behind what waits, whatever the bound: those of a handshake.
func (q *Queue) Say(b []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ended {
		q.next = append(q.next, b...)
		q.added(len(b))
	}
}

// added wakes who writes. Mu is held.
func (q *Queue) added(n int) {
	q.bound.held.Add(int64(n))
	q.news.Signal()
}

// End says that nothing follows: Write returns when all has been written.
func (q *Queue) End() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.news.Signal()
}

// Cut forgets what waits. Write returns as soon as its present write does.
func (q *Queue) Cut() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended, q.cut = true, true
	q.news.Signal()
}

// Write writes what comes, as much at a time as waits. It returns nil when the queue has ended and
// is empty, and [btl.ErrClosed] when it was cut. An error of w cuts the queue and is returned.
func (q *Queue) Write(w io.Writer) error {
	var b []byte
	for {
		var err error
		if b, err = q.take(b[:0]); err != nil || len(b) == 0 {
			return err
		}
		_, err = w.Write(b)
		q.bound.made(len(b))
		if err != nil {
			q.Cut()
			return err
		}
		if cap(b) > kept {
			b = nil
		}
	}
}

// take waits for something to write. An empty result means that the queue has ended. The queue
// takes the memory of spare in exchange.
func (q *Queue) take(spare []byte) ([]byte, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.next) == 0 && !q.ended {
		q.news.Wait()
	}
	b := q.next
	q.next = spare
	if q.cut {
		q.next = nil
		return nil, btl.ErrClosed
	}
	return b, nil
}
