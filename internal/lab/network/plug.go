//go:build linux

package network

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// A plug takes a network of netem's down and up by a schedule: while it is down its
// disciplines lose everything.
type plug struct {
	k    *kernelJoint
	over chan struct{}
	done sync.WaitGroup
	cut  uint64
	err  error
}

// pull begins a schedule, before the first frame is sent.
func (k *kernelJoint) pull(s emulate.Schedule) (*plug, error) {
	p := &plug{k: k, over: make(chan struct{})}
	began := time.Now()
	down, _ := s.Down(0)
	if err := p.set(down); err != nil {
		return nil, err
	}
	p.done.Go(func() { p.err = p.run(s, began) })
	return p, nil
}

func (p *plug) run(s emulate.Schedule, began time.Time) error {
	for at := time.Duration(0); ; {
		down, until := s.Down(at)
		before, err := uint64(0), error(nil)
		if at > 0 {
			if before, err = p.lost(); err == nil {
				err = p.set(down)
			}
		}
		more := err == nil && p.wait(time.Until(began.Add(until)), until)
		if err == nil && down {
			err = p.count(before)
		}
		if err != nil {
			return fmt.Errorf("down at %v: %w", at, err)
		}
		if !more {
			return nil
		}
		at = until
	}
}

// count ends an outage and adds what was lost in it. The disciplines count until they are set to
// lose no more. So the second reading comes after that.
func (p *plug) count(before uint64) error {
	if err := p.set(false); err != nil {
		return err
	}
	after, err := p.lost()
	p.cut += after - before
	return err
}

// wait waits for the next change, and reports whether there is one before the end.
func (p *plug) wait(left, until time.Duration) bool {
	if until == emulate.Never {
		<-p.over
		return false
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.over:
		return false
	}
}

// set has the disciplines lose everything, or do again what the link asks for.
func (p *plug) set(down bool) error {
	path := p.k.link.Path
	if down {
		path.Loss, path.Duplicate = emulate.Independent(1), 0
	}
	var errs []error
	for _, in := range p.k.ins {
		errs = append(errs, addNetem(p.k.kernel, in, path))
	}
	return errors.Join(errs...)
}

// lost is what the disciplines have lost so far.
func (p *plug) lost() (sum uint64, err error) {
	for _, in := range p.k.ins {
		n, err := p.k.dropped(in)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// stop ends the schedule and says how many frames were lost by it.
func (p *plug) stop() (cut uint64, err error) {
	close(p.over)
	p.done.Wait()
	return p.cut, p.err
}
