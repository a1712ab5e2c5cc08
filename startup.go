package strand

import (
	"context"
	"errors"
	"os"

	"github.com/strandmp/strand/launch"
)

// A mistake is an error in the parameters of a process that has not joined its job.
// Its ranks have the same parameters: each of them finds it.
type mistake struct{ error }

func (m *mistake) Unwrap() error { return m.error }

// tellMistake has a launcher that ends the job tell of a mistake, so that it is told
// once and not by every rank. Under others each of them returns it, as any error.
func tellMistake(ctx context.Context, err error) {
	if _, is := errors.AsType[*mistake](err); !is || os.Getenv(launch.JobEnv) == "" {
		return
	}
	job, joinError := launch.FromEnvironment(ctx)
	if joinError != nil {
		return // err is what the user has to know
	}
	if job.Size() > 1 {
		endBecause(ctx, job, err)
	}
	_ = job.Close() // likewise
}

// endBecause ends the job with an error that the launcher tells, and waits for it to
// end this process too, if it is one that does.
func endBecause(ctx context.Context, job launch.Job, err error) {
	abortBecause(job, err)
	if ender, ends := job.(launch.Ender); ends {
		ender.AwaitEnd(ctx)
	}
}
