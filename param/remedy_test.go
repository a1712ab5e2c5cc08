package param

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHowTo(t *testing.T) {
	t.Setenv(jobVariable, "") // and back at the end
	assert.Equal(t, "-p verbose=1", HowTo("verbose", "1"))
	assert.Equal(t, "--btl tcp,self", HowTo("btl", "tcp,self"))
	assert.Equal(t, "--btl", HowTo("btl", ""))
	assert.NoError(t, os.Unsetenv(jobVariable))
	assert.Equal(t, "STRAND_VERBOSE=1", HowTo("verbose", "1"))
	assert.Equal(t, "STRAND_BTL", HowTo("btl", ""))
}
