package handshake

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/test/wirepage"
)

// docs/WIRE.md states the sizes that the code has.
func TestWirePage(t *testing.T) {
	page := wirepage.Sizes(t)
	assert.Equal(t, page["HELLO"], helloSize)
	assert.Equal(t, page["CHALLENGE"], challengeSize)
	assert.Equal(t, page["PROOF"], blobHead)
	assert.Equal(t, page["VERDICT"], blobHead)
	assert.Equal(t, MaxBlob, 4608, "docs/WIRE.md names it")
}
