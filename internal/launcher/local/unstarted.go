package local

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/strandmp/strand/internal/openfiles"
)

// How many descriptors a starter of ranks needs. For each rank: two connections, two ends of its
// output, its lifeline and two handles of its process. For the job: its own files, and those that
// are open for a moment while a rank starts.
const (
	filesPerRank = 7
	filesOfJob   = 24
)

// Files is how many descriptors so many ranks take. The ring of a trace is one more for each.
func Files(ranks int, traced bool) int {
	each := filesPerRank
	if traced {
		each++
	}
	return each*ranks + filesOfJob
}

// Lacking adds to an error of Start what was lacking, and how there can be more of it. It reports whether that is so: else
// the program is to blame. Files is how many descriptors all ranks of the host take.
func Lacking(err error, files int) (explained error, is bool) {
	switch {
	case openfiles.Exhausted(err):
		return fmt.Errorf("%w; the ranks of this host need about %d", openfiles.Explain(err), files), true
	case errors.Is(err, syscall.EAGAIN):
		return fmt.Errorf("%w (the limit of processes and threads of this user is reached: raise it with ulimit -u, or of this container)", err), true
	case errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("%w (memory counts as a file, and none may be so large: raise the limit with ulimit -f)", err), true
	}
	failed, is := errors.AsType[*fs.PathError](err)
	return err, !is || failed.Op != "fork/exec" // what is needed before there is a process
}
