package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/wirepage"
)

var kindNames = [Kinds]string{
	Eager: "EAGER", Request: "REQUEST", Clear: "CLEAR", Data: "DATA", Ack: "ACK",
	Goodbye: "GOODBYE", GoodbyeAck: "GOODBYE-ACK", Broken: "BROKEN", Probe: "PROBE", Probed: "PROBED",
}

var flagNames = map[Flags]string{
	FlagAckNow: "acknowledge now", FlagStarved: "starved", FlagFar: "far", FlagCounted: "counted", FlagRefused: "refused",
	FlagAwaited: "awaited", FlagPart: "part", FlagWithdrawn: "withdrawn",
}

// docs/WIRE.md states the sizes and the numbers that the code has.
func TestWirePage(t *testing.T) {
	page := wirepage.Sizes(t)
	numbered := make([]string, 0, Kinds)
	for kind, name := range kindNames {
		if name == "" {
			continue
		}
		h := Header{Kind: Kind(kind)}
		assert.Equal(t, page[name], h.Encode(make([]byte, btl.MaxHeader)), name)
		numbered = append(numbered, fmt.Sprint(kind, " ", name))
	}
	assert.Contains(t, wirepage.Text(t), "| type: "+strings.Join(numbered, ", ")+" |")
	for flag, name := range flagNames {
		assert.Regexp(t, fmt.Sprintf(`(?m)^\| %d \| %s[ ,]`, flag, name), wirepage.Text(t))
	}
	assert.Equal(t, page["COMMON"], commonSize)
	assert.Equal(t, page["RANGE"], rangeSize)
	assert.Equal(t, page["PART"], partSize)
	assert.LessOrEqual(t, requestSize+partSize, btl.MaxHeader)
	assert.LessOrEqual(t, commonSize+MaxRanges*rangeSize, btl.MaxHeader)

	assert.Equal(t, page["PEER RECORD"], recordHead)
	b, err := new(Hello).Encode()
	assert.NoError(t, err)
	assert.Len(t, b, page["PEER HELLO"]+2, "the lengths of the host name and of the list, both empty")
}
