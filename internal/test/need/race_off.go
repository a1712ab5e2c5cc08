//go:build !race

package need

// Race reports whether the race detector is on. It makes everything ten times as slow.
const Race = false
