//go:build linux

package network

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/strandmp/strand/internal/emulate"
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

// pull begins a schedule.
func (k *kernelJoint) pull(s emulate.Schedule) *plug {
	p := &plug{k: k, over: make(chan struct{})}
	p.done.Go(func() { p.err = p.run(s) })
	return p
}

func (p *plug) run(s emulate.Schedule) error {
	began := time.Now()
	for at := time.Duration(0); ; {
		down, until := s.Down(at)
		before, err := p.lost()
		if err == nil {
			err = p.set(down)
		}
		if err != nil {
			return fmt.Errorf("down at %v: %w", at, err)
		}
		more := p.wait(time.Until(began.Add(until)), until)
		if down {
			after, err := p.lost()
			if err != nil {
				return err
			}
			p.cut += after - before
		}
		if !more {
			return nil
		}
		at = until
	}
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

// set has the disciplines lose everything, or what they are to.
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
