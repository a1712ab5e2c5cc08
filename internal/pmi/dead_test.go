package pmi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDeadRanks(t *testing.T) {
	for text, ranks := range map[string][]int{
		"":           nil,
		"3":          {3},
		"1,3-5":      {1, 3, 4, 5},
		"0-1,4,6-7":  {0, 1, 4, 6, 7},
		"0,2,4,6,10": {0, 2, 4, 6, 10},
	} {
		assert.Equal(t, text, formatRanks(ranks))
		got, err := ParseRanks(text, 11)
		require.NoError(t, err)
		assert.Equal(t, ranks, got)
	}
	for _, text := range []string{",", "1,", "a", "-1", "3-1", "11", "0-11", "0-10,0-10", "1-2-3", "99999999999999999999"} {
		_, err := ParseRanks(text, 11)
		assert.ErrorContains(t, err, DeadKey, "%q", text)
	}
}

func FuzzParseRanks(f *testing.F) {
	f.Add("1,3-5", 8)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size > 1<<16 {
			return
		}
		ranks, err := ParseRanks(text, size)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(ranks), max(size, 0))
		for _, r := range ranks {
			require.True(t, r >= 0 && r < size)
		}
	})
}
