package param

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSourceReadsAfterFrom(t *testing.T) {
	for want, source := range map[string]Source{
		"the default":                 {},
		"a file":                      {Kind: File},
		"strand.conf:12":              {File, "strand.conf:12"},
		"the environment, STRAND_BTL": {Environment, "STRAND_BTL"},
		"the environment":             {Environment, ""},
		"a program option":            {Kind: Option},
		"strand.Param":                {Option, "strand.Param"},
		"the command line":            {Kind: Flag},
		"--btl":                       {Flag, "--btl"},
	} {
		require.Equal(t, want, source.String())
	}
}
