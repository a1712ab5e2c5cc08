package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/wirepage"
)

// docs/WIRE.md states the sizes that the code has.
func TestWirePage(t *testing.T) {
	page := wirepage.Sizes(t)
	for name, kind := range map[string]frameType{
		"EAGER": frameEager, "REQUEST": frameRequest, "CLEAR": frameClear, "DATA": frameData, "VOID": frameVoid,
		"ACK": frameAck, "GOODBYE": frameGoodbye, "GOODBYE-ACK": frameGoodbyeAck, "BROKEN": frameBroken,
		"PROBE": frameProbe, "PROBED": frameProbed,
	} {
		h := header{kind: kind}
		assert.Equal(t, page[name], h.encode(make([]byte, btl.MaxHeader)), name)
	}
	assert.Equal(t, page["COMMON"], commonSize)
	assert.Equal(t, page["RANGE"], rangeSize)
	assert.Equal(t, page["PART"], partSize)
	assert.LessOrEqual(t, requestSize+partSize, btl.MaxHeader)
	assert.LessOrEqual(t, commonSize+maxRanges*rangeSize, btl.MaxHeader)

	b, err := encodeHello(&hello{})
	assert.NoError(t, err)
	assert.Len(t, b, page["PEER HELLO"]+2, "the lengths of the host name and of the list, both empty")
}
