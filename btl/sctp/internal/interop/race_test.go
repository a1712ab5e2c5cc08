//go:build race

package interop

// thorough is what the race detector, which makes everything ten times as slow, leaves time for.
const thorough = 4 << 20
