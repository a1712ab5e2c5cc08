package launch

import (
	"os"

	"golang.org/x/sys/unix"
)

// parentsProcessors is how many processors the process may use that has started this one, 0 if that is not known. A launcher may
// bind each rank to some of its own.
func parentsProcessors() int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getppid(), &set); err != nil {
		return 0
	}
	return set.Count()
}
