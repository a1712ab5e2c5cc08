package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestArguments(t *testing.T) {
	s, err := parse([]string{"-memory", "512", "-cache", "/c", "--", "./a", "./b/...", "-run", "Loss", "--v", "-test.count=2", "-args", "-x", "y"})
	require.NoError(t, err)
	assert.Equal(t, []string{"./a", "./b/..."}, s.packages)
	assert.Equal(t, []string{"-test.run", "Loss", "-test.v", "-test.count=2", "-x", "y"}, s.testFlags)
	assert.Equal(t, 512, s.memory)
	assert.Equal(t, "/c", s.cache)
	assert.Contains(t, s.modules, "sctp")
}

func TestArgumentsThatCanNotBe(t *testing.T) {
	for want, args := range map[string][]string{
		"no packages to test":                 {"-memory", "512"},
		"want at least 1, 256 and 30s":        {"-processors", "0", "./a"},
		"flag provided but not defined: -run": {"-run", "x", "./a"},
	} {
		_, err := parse(args)
		assert.ErrorContains(t, err, want)
	}
}
