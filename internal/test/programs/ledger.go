package programs

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// A ledger is what the ranks that run a program write down for each other. Its clock is
// that of them all.
type ledger struct {
	*pulse
	program *program
	clock   atomic.Int64
	matched []atomic.Int64 // by message: when the call began that received it
	synced  []atomic.Int64 // by message: when its synchronous send was known to be complete
}

func newLedger(p *program, pulse *pulse) *ledger {
	return &ledger{pulse: pulse, program: p, matched: make([]atomic.Int64, len(p.messages)), synced: make([]atomic.Int64, len(p.messages))}
}

// judge holds synchronous sends against receives: none completes before the call that
// receives its message has begun (MPI 4.1, section 3.4).
func (l *ledger) judge() error {
	var errs []error
	for i, m := range l.program.messages {
		if synced := l.synced[i].Load(); synced > 0 && synced < l.matched[i].Load() {
			errs = append(errs, fmt.Errorf("%v: its synchronous send was complete before the call began that received it", m))
		}
	}
	return errors.Join(errs...)
}

// enter writes down what a rank has received.
func (l *ledger) enter(h *history) {
	for _, r := range h.receptions {
		if r.way != seen && r.got != nil {
			l.matched[r.got.id].Store(r.begun)
		}
	}
}
