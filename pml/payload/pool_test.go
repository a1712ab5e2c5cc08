package payload

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPoolClasses(t *testing.T) {
	for _, c := range []struct{ n, class, size int }{
		{1, 0, 64}, {64, 0, 64}, {65, 1, 96}, {96, 1, 96}, {97, 2, 128}, {128, 2, 128}, {129, 3, 192},
		{4096, 12, 4096}, {4097, 13, 6144}, {1 << 20, poolClasses - 1, 1 << 20},
	} {
		class, size := classOf(c.n)
		assert.Equal(t, []int{c.class, c.size}, []int{class, size}, "%d bytes", c.n)
	}
	before := -1
	for n := 1; n <= 1<<maxClassBits; n++ {
		class, size := classOf(n)
		if size < n || class < before || class > before+1 || class >= poolClasses || (n > 1<<minClassBits && 3*n < 2*size) {
			t.Fatalf("%d bytes: class %d of %d bytes after class %d", n, class, size, before)
		}
		before = class
	}
}

func TestPoolReuses(t *testing.T) {
	p := Pool{Limit: 1 << 20}
	assert.Nil(t, p.Get(0))
	b := p.Get(100)
	require.Len(t, b, 100)
	p.Put(b)
	assert.Equal(t, 128, p.cached)
	again := p.Get(128)
	assert.Same(t, &b[0], &again[0], "the same class")
	assert.Zero(t, p.cached)
	other := p.Get(128)
	assert.NotSame(t, &again[0], &other[0], "it is in use")
	p.Put(nil)
	p.Put(make([]byte, 100)) // not of the pool: no class has this size
	assert.Zero(t, p.cached)
}

func TestPoolLimits(t *testing.T) {
	p := Pool{Limit: 1000}
	for range 3 {
		p.Put(make([]byte, 0, 512))
	}
	assert.Equal(t, 512, p.cached)
	big := p.Get(1<<maxClassBits + 1)
	require.Len(t, big, 1<<maxClassBits+1)
	p = Pool{Limit: 1 << 30}
	p.Put(big)
	assert.Zero(t, p.cached, "what has no class is not kept")
}

// TestPoolProperty holds that buffers in use never share memory, have the length
// asked for, and that what is kept is counted and limited.
func TestPoolProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Pool{Limit: rapid.IntRange(0, 20_000).Draw(t, "limit")}
		var used [][]byte
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(used) > 0 && rapid.Bool().Draw(t, "put") {
				at := rapid.IntRange(0, len(used)-1).Draw(t, "which")
				p.Put(used[at])
				used = append(used[:at], used[at+1:]...)
			} else {
				n := rapid.IntRange(1, 8192).Draw(t, "size")
				b := p.Get(n)
				if len(b) != n {
					t.Fatalf("asked for %d bytes, got %d", n, len(b))
				}
				for j := range b {
					b[j] = byte(i)
				}
				for _, u := range used {
					if &u[0] == &b[0] {
						t.Fatal("given out twice")
					}
				}
				used = append(used, b)
			}
			kept := 0
			for class, l := range p.free {
				for _, b := range l {
					if c, size := classOf(cap(b)); c != class || size != cap(b) {
						t.Fatalf("%d bytes in class %d", cap(b), class)
					}
					kept += cap(b)
				}
			}
			if kept != p.cached || kept > p.Limit {
				t.Fatalf("%d bytes kept, %d counted, limit %d", kept, p.cached, p.Limit)
			}
		}
	})
}

// What a buffer takes is known before there is one, and is at most half as much again as is
// asked for.
func TestTakesIsWhatGetTakes(t *testing.T) {
	var p Pool
	for _, n := range []int{0, 1, 63, 64, 65, 96, 97, 128, 129, 1025, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3 << 20} {
		assert.Equal(t, cap(p.Get(n)), Takes(n), "%d bytes", n)
		assert.LessOrEqual(t, Takes(n), max(n+n/2, Smallest), "%d bytes", n)
	}
}
