//go:build !linux

package strandcmd

// self returns the path by which this program starts itself.
func self() (string, error) { return executable() }
