package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStatsOfSeveralWires(t *testing.T) {
	var sum Stats
	sum.Add(Stats{})
	sum.Add(Stats{Frames: 30, Overrun: 1, Refused: 2, Late: 5, Late99: 50, Mean: 10 * time.Millisecond, Worst: 70})
	sum.Add(Stats{Frames: 10, NoMemory: 3, Oversize: 4, Stray: 5, Late: 9, Late99: 20, Mean: 30 * time.Millisecond, Worst: 80})
	require.Equal(t, Stats{Frames: 40, Overrun: 1, Refused: 2, NoMemory: 3, Oversize: 4, Stray: 5, Late: 9, Late99: 50, Mean: 15 * time.Millisecond, Worst: 80}, sum)
	require.EqualValues(t, 10, sum.Spoilt())
}
