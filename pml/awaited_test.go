package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAwaited(t *testing.T) {
	var a awaited
	for range awaitedNeed {
		assert.False(t, a.guess())
		a.answered(true)
	}
	for range 3 {
		for range awaitedTrust {
			assert.True(t, a.guess())
		}
		assert.False(t, a.guess(), "asked again now and then")
		a.answered(true)
	}
	a.answered(false)
	for range awaitedNeed {
		assert.False(t, a.guess())
		a.answered(true)
	}
	assert.True(t, a.guess())
}
