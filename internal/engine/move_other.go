//go:build !linux

package engine

import "github.com/strandmp/strand/btl"

// moveAway does nothing: this system has no way to say so.
func moveAway(*btl.Processors) {}

// bound is not known.
func bound() bool { return false }

// processor is not known.
func processor() (int, bool) { return 0, false }
