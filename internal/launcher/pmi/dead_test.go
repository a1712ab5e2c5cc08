package pmi

import (
	"testing"

	"github.com/stretchr/testify/assert"
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
	}
}
