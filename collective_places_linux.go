package strand

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// usableProcessors are the processors that this process may use.
func usableProcessors() []int {
	var set unix.CPUSet
	var all []int
	if unix.SchedGetaffinity(0, &set) == nil {
		for cpu := range maxProcessors {
			if set.IsSet(cpu) {
				all = append(all, cpu)
			}
		}
	}
	if len(all) > 0 {
		return all
	}
	for cpu := range runtime.NumCPU() {
		all = append(all, cpu)
	}
	return all
}
