package coherence

import "unsafe"

// Least is the least number of bytes for which Copy differs from Go's own: a string move takes some time to begin.
const Least = 2 << 10

// Moves reports whether Copy copies so many bytes by a string move.
func Moves(n int) bool { return whole && n >= Least }

// Copy copies as many bytes as both have, and returns how many, as Go's copy does. The two do not overlap. Who sees what is stored after it
// sees what it has copied.
func Copy(to, from []byte) int {
	n := min(len(to), len(from))
	if !Moves(n) {
		return copy(to, from)
	}
	// A string move to the middle of a line takes up to twenty times as long on some processors (AMD's Zen 3 and 4, bug 30994 of the GNU C library).
	begun := copy(to[:-uintptr(unsafe.Pointer(&to[0]))%line], from)
	move(&to[begun], &from[begun], n-begun)
	return n
}

// line is a cache line.
const line = 64
