package lines

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// Lines of many goroutines are shown one at a time, all of them, each goroutine's in its
// order.
func TestOneAtATimeInOrder(t *testing.T) {
	const speakers, each = 8, 100
	showing, next := false, make(map[string]int)
	q := New(func(_ btl.LogLevel, line string) {
		assert.False(t, showing)
		showing = true
		var who string
		var n int
		_, err := fmt.Sscan(line, &who, &n)
		assert.NoError(t, err)
		assert.Equal(t, next[who], n)
		next[who]++
		runtime.Gosched()
		showing = false
	})
	var all sync.WaitGroup
	for who := range speakers {
		all.Go(func() {
			for n := range each {
				q.Put(btl.LogInfo, fmt.Sprintf("speaker%d %d", who, n))
			}
		})
	}
	all.Wait()
	require.True(t, q.Flush(time.Hour))
	require.Len(t, next, speakers)
	for who, n := range next {
		assert.Equal(t, each, n, who)
	}
	require.True(t, q.Flush(0), "nobody is left at work")
}

// Lines that nobody takes do not pile up. Put returns, and the number of lines lost is told in
// their place, also if none comes after them.
func TestLostLinesAreToldInTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken := make(chan struct{})
		var shown []string
		q := New(func(level btl.LogLevel, line string) {
			<-taken
			shown = append(shown, fmt.Sprint(level, " ", line))
		})
		put := func(n int) {
			for i := range n {
				q.Put(btl.LogDebug, fmt.Sprint(i))
			}
		}
		put(1)
		synctest.Wait() // it is being shown
		put(most + 7)
		start := time.Now()
		require.False(t, q.Flush(time.Second), "nobody takes it")
		require.Equal(t, time.Second, time.Since(start))
		taken <- struct{}{}
		synctest.Wait() // one that waited is being shown: there is room for one
		put(1 + 2)
		close(taken)
		require.True(t, q.Flush(time.Second))
		want := []string{"2 0"}
		for i := range most {
			want = append(want, fmt.Sprint("2 ", i))
		}
		want = append(want, "0 7 lines were lost here: they came faster than they were taken", "2 0",
			"0 2 lines were lost here: they came faster than they were taken")
		require.Equal(t, want, shown)
		require.True(t, q.Flush(0), "it is at rest")
	})
}

// A function that ends its goroutine, as a test's FailNow does, does not stop later lines.
func TestShownByOneThatExits(t *testing.T) {
	shown := 0
	q := New(func(btl.LogLevel, string) {
		shown++
		runtime.Goexit()
	})
	q.Put(btl.LogInfo, "a")
	q.Put(btl.LogInfo, "b")
	require.True(t, q.Flush(time.Hour))
	require.Equal(t, 2, shown)
}
