package wireup

import (
	"fmt"
	"strings"
	"time"
)

// attempts are the failed attempts to connect a path: the causes, and how long all took.
// Together they are the error that says why the path could not be connected.
type attempts struct {
	Took   time.Duration
	causes []cause // of attempts in a row
	count  int
}

// cause is that of one failed attempt, or of several in a row.
type cause struct {
	err   error
	times int
}

// mostCauses bounds what is kept: of a thousand attempts the last ones tell.
const mostCauses = 8

// Count is how many there were.
func (e *attempts) Count() int { return e.count }

// Last is why the last one failed.
func (e *attempts) Last() error { return e.causes[len(e.causes)-1].err }

// Pause is how long to wait before the next one: 50 ms after the first, then twice as
// long each time, at most 2 s.
func (e *attempts) Pause() time.Duration {
	return min(50*time.Millisecond<<min(e.count-1, 10), 2*time.Second)
}

// Add takes note of one more.
func (e *attempts) Add(err error) {
	e.count++
	if n := len(e.causes); n > 0 && e.causes[n-1].err.Error() == err.Error() {
		e.causes[n-1].times++
		return
	}
	if len(e.causes) == mostCauses {
		e.causes = append(e.causes[:0], e.causes[1:]...)
	}
	e.causes = append(e.causes, cause{err, 1})
}

// Unwrap returns the last cause, which the attempts ended with.
func (e *attempts) Unwrap() error { return e.Last() }

// Error returns "connection refused", "connection refused (3 attempts in 0.2 s)"
// or, where the causes differ, "3 attempts in 10.2 s: connection refused (2 times),
// then no answer in 10s".
func (e *attempts) Error() string {
	spent := fmt.Sprintf("%d attempts in %.1f s", e.count, e.Took.Seconds())
	switch {
	case e.count == 1:
		return e.causes[0].err.Error()
	case len(e.causes) == 1:
		return fmt.Sprintf("%v (%s)", e.causes[0].err, spent)
	}
	parts := make([]string, len(e.causes))
	for i, c := range e.causes {
		parts[i] = c.err.Error()
		if c.times > 1 {
			parts[i] += fmt.Sprintf(" (%d times)", c.times)
		}
	}
	return spent + ": " + strings.Join(parts, ", then ")
}
