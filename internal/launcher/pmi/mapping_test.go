package pmi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMapping(t *testing.T) {
	assert.Equal(t, "(vector,(0,1,1))", oneNode(1))
	assert.Equal(t, "(vector,(0,1,4))", oneNode(4))
	assert.Equal(t, "(vector,(0,4,1))", manyNodes(4))
}

// Ranks on hosts of their own are not told that they share one.
func TestSpread(t *testing.T) {
	j := newJob(t, 2)
	j.Spread()
	j.init(t)
	mapping, err := j.clients[1].Get(t.Context(), MappingKey)
	require.NoError(t, err)
	assert.Equal(t, "(vector,(0,2,1))", mapping)
}
