//go:build !amd64 && !arm64

package conformance

import (
	"bytes"
	"runtime"
	"strconv"
)

// goroutine tells the calling goroutine from all others, by its number.
func goroutine() uintptr {
	var buf [40]byte
	b := buf[:runtime.Stack(buf[:], false)]
	b = bytes.TrimPrefix(b, []byte("goroutine "))
	if i := bytes.IndexByte(b, ' '); i > 0 {
		b = b[:i]
	}
	id, _ := strconv.ParseUint(string(b), 10, 64)
	return uintptr(id)
}
