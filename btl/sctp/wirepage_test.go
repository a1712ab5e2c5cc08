package sctp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/test/wirepage"
	"github.com/strandmp/strand/wireup"
)

// docs/WIRE.md states the sizes that the code has.
func TestWirePage(t *testing.T) {
	page := wirepage.Sizes(t)
	assert.Equal(t, page["SCTP PREFIX"], prefixSize)
	assert.Equal(t, page["SCTP GREETING"], len(wireup.Greeting{Own: ownGreeting(1)}.Encode()))
	assert.Equal(t, page["SCTP GOODBYE"], goodbyeSize)

	_, greeting, _ := strings.Cut(wirepage.Text(t), "### SCTP GREETING")
	assert.Contains(t, greeting, "| 0 | 4 | the largest payload that this side will send in one frame, 1 to "+wirepage.Power(maxFrameLimit)+" |")
}
