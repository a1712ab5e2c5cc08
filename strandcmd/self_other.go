//go:build !linux

package strandcmd

import "os"

// self returns the path by which this program starts itself.
func self() (string, error) { return os.Executable() }
