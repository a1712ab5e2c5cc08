//go:build !linux

package strand

import "runtime"

// usableProcessors are the processors that this process may use: how many is all that is known.
func usableProcessors() []int {
	all := make([]int, runtime.NumCPU())
	for i := range all {
		all[i] = i
	}
	return all
}
