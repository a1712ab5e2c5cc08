package launch

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A nil context panics at once, whatever kind of job it is given to.
func TestNilContext(t *testing.T) {
	var none context.Context
	for _, j := range []Job{&member{}, newSingleton("host")} {
		assert.Panics(t, func() { _ = j.Put(none, "", "") })
		assert.Panics(t, func() { _, _ = j.Get(none, "") })
		assert.Panics(t, func() { _ = j.Barrier(none) })
	}
	assert.Panics(t, func() { (&member{}).AwaitEnd(none) })
}
