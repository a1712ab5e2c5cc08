// Package deposit copies into memory that another processor reads, such as a ring between two processes.
//
// The lines there are in the reader's cache since it read them last. A store of less than a line has the processor fetch
// the line from that cache, with bytes that are all to be overwritten. A string move writes whole lines, and asks for
// nothing but to be their only holder: where the caches are far apart that takes a third of the time (docs/decisions/0084-whole-lines.md).
package deposit

// Least is the least number of bytes for which Copy differs from Go's own: a string move takes some time to begin.
const Least = 2 << 10

// Copy copies as many bytes as both have, and returns how many, as Go's copy does. The two do not overlap. Who sees what is stored after it
// sees what it has copied.
func Copy(to, from []byte) int {
	if n := min(len(to), len(from)); n >= Least && whole {
		move(&to[0], &from[0], n)
		return n
	}
	return copy(to, from)
}
