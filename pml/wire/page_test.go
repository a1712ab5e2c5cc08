package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/wirepage"
)

// docs/WIRE.md states the sizes that the code has.
func TestWirePage(t *testing.T) {
	page := wirepage.Sizes(t)
	for name, kind := range map[string]Kind{
		"EAGER": Eager, "REQUEST": Request, "CLEAR": Clear, "DATA": Data, "VOID": Void,
		"ACK": Ack, "GOODBYE": Goodbye, "GOODBYE-ACK": GoodbyeAck, "BROKEN": Broken,
		"PROBE": Probe, "PROBED": Probed,
	} {
		h := Header{Kind: kind}
		assert.Equal(t, page[name], h.Encode(make([]byte, btl.MaxHeader)), name)
	}
	assert.Equal(t, page["COMMON"], commonSize)
	assert.Equal(t, page["RANGE"], rangeSize)
	assert.Equal(t, page["PART"], partSize)
	assert.LessOrEqual(t, requestSize+partSize, btl.MaxHeader)
	assert.LessOrEqual(t, commonSize+MaxRanges*rangeSize, btl.MaxHeader)

	b, err := new(Hello).Encode()
	assert.NoError(t, err)
	assert.Len(t, b, page["PEER HELLO"]+2, "the lengths of the host name and of the list, both empty")
}
