//go:build !linux

package bench

import "runtime"

// yieldProcessor lets others have the processor, as far as Go can.
func yieldProcessor() { runtime.Gosched() }
