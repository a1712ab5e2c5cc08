//go:build !amd64 && !arm64

package sm

import "unsafe"

func prefetchToWrite(unsafe.Pointer, int) {}
func prefetch(unsafe.Pointer, int)        {}
