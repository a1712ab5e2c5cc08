package compare

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/launcher/job"
)

// tryOut lets each variant send one message over a network that does nothing to it. One
// that can not is left out of all cells, with the reason.
func (r *Runner) tryOut(ctx context.Context) error {
	task, err := newTask(multi, map[string]any{one: 8, "rounds": 1, "warmup": 0})
	if err != nil {
		return err
	}
	able := 0
	var reasons []error
	for i, v := range r.Plan.Variants {
		var run results.Run
		var facts map[string]string
		var err, closeErr error
		r.watching(State{Cell: TryingOut, Variant: v.Name}, func() {
			facts, err, closeErr = r.at(ctx, Conditions{Ranks: 2, MTU: r.Plan.MTU}, tryOutTime, &task, v, &run)
		})
		if err == nil {
			err = results.CheckFacts(facts)
		}
		switch {
		case ctx.Err() != nil:
			return errors.Join(context.Cause(ctx), closeErr)
		case closeErr != nil:
			return closeErr
		case err != nil:
			err = inTryOut(err)
			r.report.Variants[i].Unable = errorText(err)
			reasons = append(reasons, fmt.Errorf("%s: %w", v.Name, err))
			continue
		}
		r.learn(v.Name, facts)
		able++
	}
	if able == 0 {
		return errors.Join(append([]error{errors.New("none of the transports can run here")}, reasons...)...)
	}
	return r.save(false)
}

// inTryOut turns the error of an attempt into the reason why a variant can not run. If a rank
// ended the job, its message is the reason: which process it was, and that others say the same,
// tells nothing more. If the attempt took too long, the launcher names --timeout. That bounds the
// runs and not this attempt, so the reason names the bound of the attempt.
func inTryOut(err error) error {
	if rank, ok := errors.AsType[*job.RankError](err); ok && rank.How == job.Aborted && rank.Message != "" {
		return errors.New(rank.Message)
	}
	late, ok := errors.AsType[*job.TimeoutError](err)
	if !ok {
		return err
	}
	own := fmt.Sprintf("one message did not come and go within the %v of a try-out: still running: ranks %v", late.Timeout, late.Running)
	return errors.New(strings.Replace(err.Error(), late.Error(), own, 1)) // what the ranks have said stays
}

// tryOutTime bounds the time of one attempt to find out whether a variant works.
const tryOutTime = 30 * time.Second
