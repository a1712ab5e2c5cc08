//go:build !amd64

package sm

import "sync/atomic"

const inOrder = false

// announce stores a word behind what it announces.
func announce(at *atomic.Uint64, word uint64) { at.Store(word) }
