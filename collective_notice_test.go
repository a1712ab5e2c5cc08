package strand

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/test/wirepage"
)

// docs/WIRE.md has all notices.
func TestNoticesOnTheWirePage(t *testing.T) {
	page := wirepage.Text(t)
	for kind, what := range [notices]string{
		noticeLeft: "a collective call was left", noticeAgreement: "a step of an agreement", noticeFreed: "freed", noticeMissing: "a call of `Create` has got no answer",
	} {
		if kind > 0 && assert.NotEmpty(t, what, "notice %d has no name here", kind) {
			assert.Contains(t, page, fmt.Sprintf("\n| %d: %s |", kind, what))
		}
	}
	assert.Contains(t, page, fmt.Sprintf("the cause, at most %d bytes |", mostCause))
}
