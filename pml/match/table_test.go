package match

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// probes returns the mean and the greatest number of buckets that finding a key
// of the table looks at.
func (t *table) probes() (mean float64, longest int) {
	mask := uint64(len(t.buckets) - 1)
	total, keys := 0, 0
	for i := range t.buckets {
		if b := &t.buckets[i]; b.used {
			n := int((uint64(i)-spread(b.key))&mask) + 1
			total += n
			keys++
			longest = max(longest, n)
		}
	}
	return float64(total) / float64(max(keys, 1)), longest
}

// use enters a key with a receive, so that a sweep keeps it.
func (t *table) use(k uint64) *Recv {
	r := &Recv{}
	t.get(k).posted.append(r)
	return r
}

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
	for name, pattern := range patterns {
		// From one quarter full to one half: what sizes the table has in use.
		var table table
		for i := range n {
			source, tag := pattern(i)
			table.use(key(source, tag))
			if i&(i-1) == 0 || i == n-1 {
				mean, longest := table.probes()
				worst = max(worst, mean)
				if mean > 3 || longest > 64 {
					t.Errorf("%s, %d keys: %.2f buckets a lookup, %d at the most", name, i+1, mean, longest)
				}
			}
		}
	}
	t.Logf("%d patterns, %.2f buckets a lookup in the worst", len(patterns), worst)
}

func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table table
		want := make(map[uint64][]*Recv)
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			k := key(rapid.Int32Range(-1, 20).Draw(t, "source"), rapid.Int32Range(-1, 20).Draw(t, "tag"))
			if list := want[k]; len(list) > 0 && rapid.Bool().Draw(t, "remove") {
				table.find(k).posted.remove(list[0])
				want[k] = list[1:]
			} else {
				want[k] = append(want[k], table.use(k))
			}
			for k, list := range want {
				b := table.find(k)
				if b == nil && len(list) == 0 {
					continue
				}
				require.NotNil(t, b)
				r := b.posted.head
				for _, w := range list {
					require.Same(t, w, r)
					r = r.next
				}
				require.Nil(t, r)
			}
			require.LessOrEqual(t, 2*table.used, len(table.buckets))
		}
	})
}

// A table grows with what is in it, not with what was.
func TestTableForgets(t *testing.T) {
	var table table
	for i := range 100_000 {
		k := key(1, int32(i))
		table.find(k) // not there
		r := table.use(k)
		table.find(k).posted.remove(r)
	}
	require.Len(t, table.buckets, minBuckets)
	var rs []*Recv
	for i := range 10_000 {
		rs = append(rs, table.use(key(2, int32(i))))
	}
	for i, r := range rs {
		table.find(key(2, int32(i))).posted.remove(r)
	}
	for i := range len(table.buckets) {
		k := key(3, int32(i))
		table.get(k)
	}
	require.Len(t, table.buckets, minBuckets)
}

// Sweeps cost little for each key entered, however many stay.
func TestSweepsAreAmortised(t *testing.T) {
	for _, stay := range []int{0, 10, 1000, 50_000} {
		var table table
		for i := range stay {
			table.use(key(1, int32(i)))
		}
		const entered = 200_000
		swept, before := 0, table.used
		for i := range entered {
			k := key(2, int32(i))
			size := len(table.buckets)
			r := table.use(k)
			if table.used != before+1 { // a sweep
				swept += size + len(table.buckets)
			}
			before = table.used
			table.find(k).posted.remove(r)
		}
		t.Logf("%d stay: %.1f buckets swept for each key", stay, float64(swept)/entered)
		require.Less(t, float64(swept)/entered, 12.0)
	}
}
