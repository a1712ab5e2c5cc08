package strandcmd

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Who was isolated has said what was wrong: its status is all that is left to tell.
func TestStatusErrorIsSilent(t *testing.T) {
	assert.Equal(t, 7, exitStatus(statusError(7)))
	assert.Empty(t, statusError(7).Error())
	assert.Equal(t, 1, exitStatus(errors.New("something")))
}
