//go:build !linux

package strandcmd

import "os"

// self is this program, for it to start itself.
func self() (string, error) { return os.Executable() }
