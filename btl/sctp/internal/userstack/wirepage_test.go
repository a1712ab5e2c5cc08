package userstack

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/test/wirepage"
)

// docs/WIRE.md states the size that the code has.
func TestWirePage(t *testing.T) {
	assert.Equal(t, wirepage.Sizes(t)["COOKIE"], cookieSize)
}
