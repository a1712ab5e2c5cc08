package directory

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Whoever asks is answered once: by the module, or by its leaving.
func TestWhoAsksIsAnsweredOnce(t *testing.T) {
	var d Directory[string, int]
	a, b := d.Enter("a"), d.Enter("b")
	assert.ElementsMatch(t, []string{"a", "b"}, d.Modules())

	m, known := d.Ask(b, 1)
	assert.True(t, known)
	assert.Equal(t, "b", m)
	_, _ = d.Ask(b, 2)
	assert.False(t, d.Look(a, 1), "it has asked another one")
	assert.True(t, d.Look(b, 1))
	assert.False(t, d.Look(b, 1), "it was looked at")

	assert.Equal(t, []int{2}, d.Leave(b))
	assert.False(t, d.Look(b, 2), "it was refused")
	assert.Empty(t, d.Leave(b))
	assert.False(t, d.Has(b))
	_, known = d.Ask(b, 3)
	assert.False(t, known)
	assert.True(t, d.Has(a))
	assert.Greater(t, d.Enter("b"), b, "nobody is taken for one that has left")
}
