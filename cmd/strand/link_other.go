//go:build !linux

package main

import (
	"context"
	"errors"
	"io"
)

func checkLinks(context.Context, io.Writer, *progress, bool) error {
	return errors.New("emulated links need Linux")
}
