//go:build amd64 || arm64

package coherence

import "unsafe"

// FetchToWrite has the processor fetch the n bytes at p, whole cache lines, as those that it is
// about to write. It is a hint: it waits for nothing, and changes nothing but how long the writes take.
//
//go:noescape
func FetchToWrite(p unsafe.Pointer, n int)

// Fetch has the processor fetch the n bytes at p, whole cache lines, as those that it is about to read. It is a hint as well.
//
//go:noescape
func Fetch(p unsafe.Pointer, n int)
