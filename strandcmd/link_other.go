//go:build !linux

package strandcmd

import (
	"context"
	"errors"
	"io"
)

var errLinux = errors.New("emulated networks need Linux")

func checkLinks(context.Context, io.Writer, *progress, string, bool) error { return errLinux }
func contestLinks(context.Context, io.Writer, *progress, bool) error       { return errLinux }
