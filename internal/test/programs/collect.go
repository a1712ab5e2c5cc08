package programs

import "github.com/strandmp/strand"

// underway is a collective call that goes on by itself.
type underway struct {
	step    *step
	request strand.Request
	check   func() error
}

// collect makes a collective call.
func (r *rank) collect(s *step) error {
	c, call := r.comms[s.comm], s.call
	if grid := r.grids[s.comm]; grid != nil {
		call = call.Over(grid)
		r.tally.OverGrids++
	}
	if !call.Alone {
		r.tally.Blocking++
		return call.Make(r.ctx, c)
	}
	request, check, err := call.Begin(c)
	if err != nil {
		return err
	}
	r.tally.Alone++
	r.calls = append(r.calls, underway{s, request, check})
	return nil
}

// await waits for some of the collective calls that go on by themselves, the last one first: all of them go on meanwhile.
func (r *rank) await(some int) error {
	for range some {
		last := len(r.calls) - 1
		u := r.calls[last]
		if _, err := r.wait(u.request); err != nil {
			return err
		}
		if err := u.check(); err != nil {
			return err
		}
		r.ledger.beat()
		r.calls = r.calls[:last]
	}
	return nil
}
