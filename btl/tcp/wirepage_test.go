package tcp

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/btl/tcp/internal/record"
	"github.com/strandmp/strand/framing"
	"github.com/strandmp/strand/internal/test/wirepage"
	"github.com/strandmp/strand/wireup"
)

// docs/WIRE.md states the sizes that the code has.
func TestWirePage(t *testing.T) {
	page := wirepage.Sizes(t)
	assert.Equal(t, page["PREFIX"], framing.PrefixSize)
	assert.Equal(t, page["GREETING"], len(wireup.Greeting{Own: make([]byte, ownSize)}.Encode()))
	assert.Equal(t, page["RECORD"], record.Overhead)
}
