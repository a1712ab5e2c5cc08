//go:build !amd64 && !arm64

package coherence

import "unsafe"

// FetchToWrite does nothing here.
func FetchToWrite(unsafe.Pointer, int) {}

// Fetch does nothing here.
func Fetch(unsafe.Pointer, int) {}
