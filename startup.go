package strand

import (
	"context"
	"errors"
	"os"

	"github.com/strandmp/strand/launch"
)

// A mistake is an error in the parameters of a process that has not joined its job. All ranks
// of the job have the same parameters, so each of them finds it.
type mistake struct{ error }

func (m *mistake) Unwrap() error { return m.error }

// tellMistake tells a mistake to the launcher, if that is one which ends the job: so the
// mistake is shown once, and not by every rank. Under other launchers each rank returns it like
// any error.
func tellMistake(ctx context.Context, err error) {
	if _, is := errors.AsType[*mistake](err); !is || os.Getenv(launch.JobEnv) == "" {
		return
	}
	job, joinError := launch.FromEnvironment(ctx)
	if joinError != nil {
		return // err is what the user has to know
	}
	if job.Size() > 1 && job.Name() == os.Getenv(launch.JobEnv) { // else that is the mark of a launcher around this one
		endBecause(ctx, job, err)
	}
	_ = job.Close() // likewise
}

// endBecause ends the job with an error, which the launcher tells. If the launcher ends this
// process too, endBecause waits for that.
func endBecause(ctx context.Context, job launch.Job, err error) {
	abortBecause(job, err)
	if ender, ends := job.(launch.Ender); ends {
		ender.AwaitEnd(ctx)
	}
}
