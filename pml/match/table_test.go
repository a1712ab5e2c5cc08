package match

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// probes returns the mean and the greatest number of slots that finding a hash
// of the table looks at.
func (t *table[T]) probes() (mean float64, longest int) {
	mask := uint64(len(t.slots) - 1)
	total := 0
	for i := range t.slots {
		if s := &t.slots[i]; s.hash != 0 {
			n := int((uint64(i)-s.hash)&mask) + 1
			total += n
			longest = max(longest, n)
		}
	}
	return float64(total) / float64(max(t.used, 1)), longest
}

// use enters a receive, alone in its list, so that a sweep keeps it.
func (t *table[T]) use(hash uint64, item *T) { t.get(hash).head = item }

// Programs number their tags and ranks by patterns, not at random. None may make
// lookups longer than chance would.
func TestPatternsSpread(t *testing.T) {
	const n = 1 << 14
	random := rand.New(rand.NewPCG(1, 2))
	patterns := map[string]func(i int) (source, tag int32){
		"random": func(int) (int32, int32) { return random.Int32(), random.Int32() },
		"any source of many": func(i int) (int32, int32) {
			return int32(i), Any
		},
		"mirrored": func(i int) (int32, int32) { return int32(i), int32(-i) & (1<<31 - 1) },
		"diagonal": func(i int) (int32, int32) { return int32(i), int32(i) },
		"the four kinds": func(i int) (int32, int32) {
			return []int32{int32(i), Any}[i&1], []int32{int32(i), Any}[i>>1&1]
		},
		"high and low tag bits": func(i int) (int32, int32) { return 0, int32(i>>7<<24 | i&127) },
	}
	for shift := 0; shift <= 17; shift++ {
		patterns[fmt.Sprintf("tags times 2^%d", shift)] = func(i int) (int32, int32) { return 3, int32(i << shift) }
		patterns[fmt.Sprintf("tags of any source times 2^%d", shift)] = func(i int) (int32, int32) { return Any, int32(i << shift) }
		patterns[fmt.Sprintf("sources times 2^%d", shift)] = func(i int) (int32, int32) { return int32(i << shift), 1 }
		patterns[fmt.Sprintf("128 sources, 128 tags times 2^%d", shift)] = func(i int) (int32, int32) {
			return int32(i & 127), int32(i >> 7 << shift)
		}
		patterns[fmt.Sprintf("128 sources times 2^%d, 128 tags", shift)] = func(i int) (int32, int32) {
			return int32(i & 127 << shift), int32(i >> 7)
		}
		patterns[fmt.Sprintf("source and tag times 2^%d", shift)] = func(i int) (int32, int32) {
			return int32(i), int32(i << shift)
		}
	}
	for _, stride := range []int{3, 10, 100, 1000, 1023, 1025, 10_000, 65_537, 100_000, 131_071} {
		patterns[fmt.Sprintf("tags times %d", stride)] = func(i int) (int32, int32) { return 0, int32(i * stride) }
	}
	var worst float64
	// In one order: chance is the same in every run.
	for _, name := range slices.Sorted(maps.Keys(patterns)) {
		pattern := patterns[name]
		// Until they are half full, in all sizes.
		table, h := newTable[Recv](), hasher{random.Uint64() | 1, random.Uint64() | 1}
		for i := range n {
			source, tag := pattern(i)
			table.use(h.hash(source, tag), &Recv{})
			if halfFull := 2*(table.used+1) > len(table.slots); halfFull || i == n-1 {
				mean, longest := table.probes()
				worst = max(worst, mean)
				most := 2.0 // chance gives 1.5, and more or less of it with few
				if i < 1000 {
					most = 3
				}
				if mean > most || longest > 64 {
					t.Errorf("%s, %d keys: %.2f slots a lookup, %d at the most", name, i+1, mean, longest)
				}
			}
		}
	}
	t.Logf("%d patterns, %.2f slots a lookup in the worst", len(patterns), worst)
}

// Many hashes lead to few places of the table, so that they crowd it.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := newTable[Recv]()
		want := make(map[uint64]*Recv)
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			hash := rapid.Uint64Range(1, 10).Draw(t, "above")<<32 | rapid.Uint64Max(63).Draw(t, "place")
			require.Same(t, want[hash], table.find(hash).head)
			if want[hash] == nil {
				want[hash] = &Recv{}
				table.use(hash, want[hash])
			} else if rapid.Bool().Draw(t, "remove") {
				table.find(hash).head = nil
				delete(want, hash)
			}
			used, live := 0, 0
			for i := range table.slots {
				s := &table.slots[i]
				if s.hash == 0 {
					require.Nil(t, s.head)
					continue
				}
				used++
				if s != table.find(s.hash) || s.head != want[s.hash] {
					t.Fatalf("%x is not found, or is another's", s.hash)
				}
				if s.head != nil {
					live++
				}
			}
			require.Len(t, want, live)
			require.Equal(t, used, table.used)
			require.LessOrEqual(t, 2*used, len(table.slots))
		}
	})
}

// A table grows with what is in it, not with what was.
func TestTableForgets(t *testing.T) {
	table, h, r := newTable[Recv](), newHasher(), &Recv{}
	for i := range 100_000 {
		hash := h.hash(1, int32(i))
		table.find(hash) // not there
		table.use(hash, r)
		table.find(hash).head = nil
	}
	require.Len(t, table.slots, minSlots)
	for i := range 10_000 {
		table.use(h.hash(2, int32(i)), r)
	}
	for i := range 10_000 {
		table.find(h.hash(2, int32(i))).head = nil
	}
	for i := range len(table.slots) {
		table.get(h.hash(3, int32(i)))
	}
	require.Len(t, table.slots, minSlots)
}

// Sweeps cost little for each hash entered, however many stay.
func TestSweepsAreAmortised(t *testing.T) {
	for _, stay := range []int{0, 10, 1000, 12_000, 50_000} {
		table, h, r := newTable[Recv](), newHasher(), &Recv{}
		for i := range stay {
			table.use(h.hash(1, int32(i)), r)
		}
		const entered = 200_000
		swept, before := 0, table.used
		for i := range entered {
			hash := h.hash(2, int32(i))
			size := len(table.slots)
			table.use(hash, r)
			if table.used != before+1 { // a sweep
				swept += size + len(table.slots)
			}
			before = table.used
			table.find(hash).head = nil
		}
		t.Logf("%d stay: %.1f slots swept for each hash", stay, float64(swept)/entered)
		require.Less(t, float64(swept)/entered, 16.0)
	}
}

// No two pairs of source and tag share a hash, which stands for them.
func TestHashIsReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hasher{rapid.Uint64().Draw(t, "first") | 1, rapid.Uint64().Draw(t, "second") | 1}
		source, tag := rapid.Int32Min(Any).Draw(t, "source"), rapid.Int32Min(Any).Draw(t, "tag")
		k := h.hash(source, tag)
		require.NotZero(t, k, "it stands for a free slot")
		k ^= k >> 33
		k *= inverse(h.second)
		k ^= k >> 33
		k *= inverse(h.first)
		k = k ^ k>>33 ^ noPair
		require.Equal(t, source, int32(k>>32))
		require.Equal(t, tag, int32(k))
	})
}

// inverse returns the number that gives 1 multiplied by an odd one: by Newton's
// method, each step doubles the number of bits that are right, three at first.
func inverse(odd uint64) uint64 {
	x := odd
	for range 5 {
		x *= 2 - odd*x
	}
	return x
}

func TestEveryContextHashesInItsOwnWay(t *testing.T) {
	require.NotEqual(t, NewContext(nil).hasher, NewContext(nil).hasher)
}
