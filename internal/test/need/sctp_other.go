//go:build !linux

package need

import (
	"errors"
	"runtime"
)

func kernelSCTP() error { return errors.New("only Linux's is used; this is " + runtime.GOOS) }
