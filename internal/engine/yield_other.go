//go:build !linux

package engine

import "runtime"

// yield offers the processor to others.
func yield() { runtime.Gosched() }
