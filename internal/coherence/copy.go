package coherence

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
