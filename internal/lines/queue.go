// Package lines passes lines for people on to whoever shows them. Whoever says them does not
// wait for that.
package lines

import (
	"fmt"
	"sync"
	"time"

	"github.com/strandmp/strand/btl"
)

// most is how many lines may wait. More are a burst, or nobody takes them.
const most = 1024

// A Queue passes lines on to a function, one at a time, in the order in which they were
// put in. The function is called by a goroutine that holds no lock and that is there only
// as long as there are lines. So it may take its time, and call methods of the world.
type Queue struct {
	show func(btl.LogLevel, string)

	mu    sync.Mutex
	lines []line        // that wait
	lost  int           // after the last of lines
	empty chan struct{} // closed when all were shown; nil while nobody shows any
}

// line is one line with the number of lines that were lost before it. With none it is that
// number alone.
type line struct {
	level btl.LogLevel
	text  string
	lost  int
	none  bool
}

// New returns a queue that passes lines on to show.
func New(show func(btl.LogLevel, string)) *Queue { return &Queue{show: show} }

// Put passes a line on. It does not block. A full queue loses the line; the number of lines
// lost is told in their place.
func (q *Queue) Put(level btl.LogLevel, text string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) == most {
		q.lost++
		return
	}
	q.lines = append(q.lines, line{level: level, text: text, lost: q.lost})
	q.lost = 0
	if q.empty == nil {
		q.empty = make(chan struct{})
		go q.work()
	}
}

// Flush waits until all lines that were put in have been shown, at most for a time, and
// reports whether they were.
func (q *Queue) Flush(patience time.Duration) bool {
	q.mu.Lock()
	empty := q.empty
	q.mu.Unlock()
	if empty == nil {
		return true
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-empty:
		return true
	case <-timer.C:
		return false
	}
}

// work shows lines until there are none. If show ends the goroutine, another one takes over.
func (q *Queue) work() {
	returned := false
	defer func() {
		if !returned {
			go q.work()
		}
	}()
	for l, ok := q.next(); ok; l, ok = q.next() {
		if l.lost > 0 {
			q.show(btl.LogWarn, fmt.Sprintf("%d lines were lost here: they came faster than they were taken", l.lost))
		}
		if !l.none {
			q.show(l.level, l.text)
		}
	}
	returned = true
}

// next takes out a line. After the last line it tells how many were lost since, if any. Then the
// queue is at rest.
func (q *Queue) next() (l line, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case len(q.lines) > 0:
		l = q.lines[0]
		q.lines = q.lines[1:]
		return l, true
	case q.lost > 0:
		l = line{lost: q.lost, none: true}
		q.lost = 0
		return l, true
	}
	close(q.empty)
	q.lines, q.empty = nil, nil
	return line{}, false
}
