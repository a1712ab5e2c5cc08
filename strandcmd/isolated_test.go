package strandcmd

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The isolated process has said what was wrong, so only its status is passed on.
func TestStatusErrorIsSilent(t *testing.T) {
	assert.Equal(t, 7, exitStatus(statusError(7)))
	assert.Empty(t, statusError(7).Error())
	assert.Equal(t, 1, exitStatus(errors.New("something")))
}
