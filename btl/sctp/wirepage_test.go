package sctp

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/wirepage"
)

// docs/WIRE.md states the sizes that the code has.
func TestWirePage(t *testing.T) {
	page := wirepage.Sizes(t)
	assert.Equal(t, page["SCTP PREFIX"], prefixSize)
	assert.Equal(t, page["SCTP GREETING"], greetingHead)
	assert.Equal(t, page["SCTP GOODBYE"], goodbyeSize)
}
