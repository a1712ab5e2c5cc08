package pml

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
	p := pool{limit: 1 << 20}
	assert.Nil(t, p.get(0))
	b := p.get(100)
	require.Len(t, b, 100)
	p.put(b)
	assert.Equal(t, 128, p.cached)
	again := p.get(128)
	assert.Same(t, &b[0], &again[0], "the same class")
	assert.Zero(t, p.cached)
	other := p.get(128)
	assert.NotSame(t, &again[0], &other[0], "it is in use")
	p.put(nil)
	p.put(make([]byte, 100)) // not of the pool: no class has this size
	assert.Zero(t, p.cached)
}

func TestPoolLimits(t *testing.T) {
	p := pool{limit: 1000}
	for range 3 {
		p.put(make([]byte, 0, 512))
	}
	assert.Equal(t, 512, p.cached)
	big := p.get(1<<maxClassBits + 1)
	require.Len(t, big, 1<<maxClassBits+1)
	p = pool{limit: 1 << 30}
	p.put(big)
	assert.Zero(t, p.cached, "what has no class is not kept")
}

// TestPoolProperty holds that buffers in use never share memory, have the length
// asked for, and that what is kept is counted and limited.
func TestPoolProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pool{limit: rapid.IntRange(0, 20_000).Draw(t, "limit")}
		var used [][]byte
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(used) > 0 && rapid.Bool().Draw(t, "put") {
				at := rapid.IntRange(0, len(used)-1).Draw(t, "which")
				p.put(used[at])
				used = append(used[:at], used[at+1:]...)
			} else {
				n := rapid.IntRange(1, 8192).Draw(t, "size")
				b := p.get(n)
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
			if kept != p.cached || kept > p.limit {
				t.Fatalf("%d bytes kept, %d counted, limit %d", kept, p.cached, p.limit)
			}
		}
	})
}
