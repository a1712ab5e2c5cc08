//go:build linux

package contact_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// weigh passes a token around. In between, when nobody can have left yet, each rank
// tells how many connections it has, and how much memory of its own.
func weigh(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	next, previous := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	token := make([]byte, 64<<10)
	for round := range 5 {
		if round == 3 {
			if err := tellWeight(w); err != nil {
				return err
			}
		}
		if c.Rank() == 0 {
			if err := c.Send(ctx, token, next, 1); err != nil {
				return err
			}
		}
		if _, err := c.Recv(ctx, token, previous, 1); err != nil {
			return err
		}
		if c.Rank() != 0 {
			if err := c.Send(ctx, token, next, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

func tellWeight(w *strand.World) error {
	private, err := privateMemory()
	if err != nil {
		return err
	}
	connections := 0
	for _, r := range w.Rails() {
		if r.Up {
			connections++
		}
	}
	fmt.Printf("weight: %d connections, %d KB\n", connections, private)
	return nil
}

// privateMemory is what this process shares with no other, in KB.
func privateMemory() (kb int, err error) {
	b, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var n int
		for _, field := range []string{"Private_Clean:", "Private_Dirty:", "SwapPss:"} {
			if _, err := fmt.Sscanf(lines.Text(), field+" %d kB", &n); err == nil {
				kb += n
			}
		}
	}
	return kb, nil
}

// Ranks in a ring have as many connections as there are ranks, and their memory does
// not depend on how many there are.
func TestMemoryDoesNotGrowWithTheWorld(t *testing.T) {
	sizes := []int{16, 64}
	if need.Soaking() {
		sizes = []int{16, 64, 256}
	}
	_, a, _ := nettest.Hosts(t)
	var medians []int
	for _, ranks := range sizes {
		start := time.Now()
		r := nettest.Play("weigh", slices.Repeat([]*testnet.Host{a}, ranks), "STRAND_BTL=tcp,self").Run(t)
		require.NoError(t, r.Wait())
		took := time.Since(start)
		var weights []int
		ends := 0
		for rank := range ranks {
			var connections, kb int
			_, err := fmt.Sscanf(r.Await(rank, "weight: ").Text, "weight: %d connections, %d KB", &connections, &kb)
			require.NoError(t, err)
			ends += connections
			weights = append(weights, kb)
		}
		slices.Sort(weights)
		median, most := weights[ranks/2], weights[ranks-1]
		t.Logf("%d ranks: %d connections, %d KB of memory each (median), %d at most; all done after %v", ranks, ends/2, median, most, took.Round(100*time.Millisecond))
		assert.Equal(t, 2*ranks, ends, "ends of connections")
		if !raceDetector {
			assert.LessOrEqual(t, most, 24<<10, "KB")
		}
		medians = append(medians, median)
	}
	assert.Less(t, slices.Max(medians), medians[0]*5/4, "KB, median")
}
