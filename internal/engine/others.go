package engine

import "runtime"

// LetOthersRun has others run: other goroutines where worlds share this process, else other processes. It is for who waits for what is in
// memory and holds no lock.
func LetOthersRun() {
	if engines.Load() > 1 {
		runtime.Gosched()
	} else {
		yield()
	}
}
