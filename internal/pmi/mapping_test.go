package pmi

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMapping(t *testing.T) {
	assert.Equal(t, "(vector,(0,1,1))", oneNode(1))
	assert.Equal(t, "(vector,(0,1,4))", oneNode(4))
}
