package tcp

import (
	"fmt"
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

	text := wirepage.Text(t)
	assert.Contains(t, text, "| 0 | 4 | the largest payload that this side will send in one frame, 1 to "+wirepage.Power(maxFrameLimit)+" |")
	assert.Contains(t, text, fmt.Sprintf("| n, the length of the stream's bytes in it, 1 to %d |", record.MaxPlain))
	assert.Contains(t, text, "\nAfter "+wirepage.Power(record.Renewal)+" records, ")
	assert.Contains(t, text, fmt.Sprintf("| path, below %d |", maxPaths))
	assert.Contains(t, text, fmt.Sprintf("Spare paths are numbered from %d down", maxPaths-1))
	assert.Contains(t, text, fmt.Sprintf("Of TCP, path %d is for urgent messages alone.", maxPaths-wireup.MostSpares-1))
}
