package match

import "math/rand/v2"

// table finds the list of a (source, tag) by open addressing. A slot holds the
// whole hash, which is as good as the key, and the head of the list: four slots
// fill a cache line, and most lookups touch one. Slots whose lists have run
// empty stay until the table is half full; then they are swept out, so that
// neither a tag used over and over nor tags never used again cost more than
// their share.
type table[T any] struct {
	slots []slot[T] // a power of two
	used  int
	spare []slot[T] // what the last sweep left: as many, all free
}

type slot[T any] struct {
	hash uint64 // 0: the slot is free
	head *T
}

const (
	// minSlots makes sweeps rare where there is little to sweep.
	minSlots = 64
	// keptSlots is how many slots a table keeps that has no list: 1 MB.
	keptSlots = 1 << 16
)

func newTable[T any]() table[T] { return table[T]{slots: make([]slot[T], minSlots)} }

// rest gives the memory back that a peak has needed, and reports whether there was any. No slot has a list.
func (t *table[T]) rest() bool {
	if len(t.slots)+len(t.spare) > keptSlots {
		*t = newTable[T]()
		return true
	}
	return false
}

// find returns the slot of a hash or, if it has none, a free one: a slot without
// a list. It is good until the next call of get.
func (t *table[T]) find(hash uint64) *slot[T] {
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.hash == hash || s.hash == 0 {
			return s
		}
	}
}

// get returns the slot of a hash, which it makes if need be.
func (t *table[T]) get(hash uint64) *slot[T] {
	s := t.find(hash)
	if s.hash == 0 {
		s = t.enter(s, hash)
	}
	return s
}

func (t *table[T]) enter(s *slot[T], hash uint64) *slot[T] {
	if 2*(t.used+1) > len(t.slots) {
		t.rebuild()
		s = t.find(hash)
	}
	s.hash = hash
	t.used++
	return s
}

// rebuild drops the slots without a list. Three in eight are used then at the
// most: at least one in eight can be entered before the next time, so that its
// cost, spread over those, is constant.
func (t *table[T]) rebuild() {
	live := 0
	for i := range t.slots {
		if t.slots[i].head != nil {
			live++
		}
	}
	size := minSlots
	for 3*size < 8*(live+1) {
		size *= 2
	}
	old := t.slots
	if len(t.spare) != size {
		t.spare = make([]slot[T], size)
	}
	t.slots, t.used, t.spare = t.spare, live, nil
	for _, s := range old {
		if s.head != nil {
			*t.find(s.hash) = s
		}
	}
	if len(old) == size {
		clear(old)
		t.spare = old
	}
}

// hasher spreads the pairs of source and tag over a table. Its multipliers are
// drawn at random: a peer chooses the tags it sends, and must not be able to
// choose them so that their lists come to lie side by side.
type hasher struct{ first, second uint64 }

// noPair is no source and tag: both are at least Any.
const noPair = 1<<63 | 1<<31

func newHasher() hasher { return hasher{rand.Uint64() | 1, rand.Uint64() | 1} }

// hash gives different pairs different hashes, since folding and multiplying by
// an odd number can both be undone. The steps are those of MurmurHash3's
// finalizer: each bit of a pair moves every bit of the result, whatever pattern
// sources and tags are numbered by. (One step less, cheaper by a nanosecond, puts
// sources that are multiples of a power of two side by side.) Only what is no
// pair gives 0.
func (h hasher) hash(source, tag int32) uint64 {
	k := uint64(uint32(source))<<32 | uint64(uint32(tag)) ^ noPair
	k ^= k >> 33
	k *= h.first
	k ^= k >> 33
	k *= h.second
	return k ^ k>>33
}
