//go:build !linux

package rawio

// FlowOf is for Linux only.
func FlowOf(int) (Flow, bool) { return Flow{}, false }

// StallOf is for Linux only.
func StallOf(int) (Stall, bool) { return Stall{}, false }
