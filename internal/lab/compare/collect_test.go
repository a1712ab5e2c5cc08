package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/workload"
)

// A run with any number of connections can be told, and the sums lose nothing.
func TestManyRailsAreCondensed(t *testing.T) {
	for _, c := range []struct {
		ranks, links, want int
		name               string
	}{
		{2, 10, 20, "rail 0"},
		{64, 1, 64 * 63, "rail 0"},
		{64, 10, 64 * 63, "10 connections"},
		{100, 2, 100, "all connections to 99 ranks"},
	} {
		var rails []results.Rail
		for rank := range c.ranks {
			for peer := range c.ranks {
				for i := range c.links {
					if peer != rank {
						rails = append(rails, results.Rail{Rank: rank, Peer: peer, Name: fmt.Sprint("rail ", i), SentBytes: 1, ReceivedBytes: 2, Retransmissions: 3, Timeouts: 4})
					}
				}
			}
		}
		got := condense(rails)
		assert.Len(t, got, c.want)
		assert.Equal(t, c.name, got[0].Name)
		var all results.Rail
		for _, r := range got {
			all.SentBytes += r.SentBytes
			all.ReceivedBytes += r.ReceivedBytes
			all.Retransmissions += r.Retransmissions
			all.Timeouts += r.Timeouts
		}
		n := uint64(len(rails))
		assert.Equal(t, results.Rail{SentBytes: n, ReceivedBytes: 2 * n, Retransmissions: 3 * n, Timeouts: 4 * n}, all)
	}
}

func TestLongFactsAreCut(t *testing.T) {
	assert.Equal(t, "short", shorten("short"))
	for shift := range 3 {
		long := shorten(strings.Repeat("x", shift) + strings.Repeat("é", results.MaxName))
		assert.LessOrEqual(t, len(long), results.MaxName)
		assert.True(t, strings.HasSuffix(long, "é…"), long)
	}
}

// A count of timeouts that a transport does not tell is unknown, and not 0.
func TestUnknownCountsAreNotZero(t *testing.T) {
	known := rail(0, workload.Connection{Peer: 1, Resent: 3, Timeouts: 0})
	assert.Equal(t, results.Rail{Peer: 1, Retransmissions: 3}, known)
	unknown := rail(0, workload.Connection{Peer: 1, Resent: 3, Timeouts: -1})
	assert.Equal(t, results.Rail{Peer: 1, Retransmissions: 3, TimeoutsUnknown: true}, unknown)
	both := sum([]results.Rail{known, unknown}, "%d connections", func(r results.Rail) int { return r.Peer })
	assert.True(t, both[0].TimeoutsUnknown)
	assert.False(t, both[0].RetransmissionsUnknown)
}
