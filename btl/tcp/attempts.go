package tcp

import (
	"fmt"
	"strings"
	"time"
)

// An attemptsError is why a path could not be connected: what became of each
// attempt, and how long they took.
type attemptsError struct {
	causes []cause // of attempts in a row
	count  int
	took   time.Duration
}

// cause is that of one failed attempt, or of several in a row.
type cause struct {
	err   error
	times int
}

// mostCauses bounds what is kept: of a thousand attempts the last ones tell.
const mostCauses = 8

func (e *attemptsError) add(err error) {
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

// Unwrap returns the causes, the last one first.
func (e *attemptsError) Unwrap() []error {
	all := make([]error, len(e.causes))
	for i, c := range e.causes {
		all[len(all)-1-i] = c.err
	}
	return all
}

// Error returns "connection refused", "connection refused (3 attempts in 0.2 s)"
// or, where the causes differ, "3 attempts in 10.2 s: connection refused (2 times),
// then no answer in 10s".
func (e *attemptsError) Error() string {
	spent := fmt.Sprintf("%d attempts in %.1f s", e.count, e.took.Seconds())
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
