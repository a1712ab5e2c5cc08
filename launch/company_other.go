//go:build !linux

package launch

func parentsProcessors() int { return 0 }
