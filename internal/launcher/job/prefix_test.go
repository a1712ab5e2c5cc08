package job

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/transcript"
)

func TestPrefixTakesRanksToTheirHosts(t *testing.T) {
	env := need.Program(t, "env", "coreutils")
	out := transcript.New()
	require.NoError(t, Run(context.Background(), Config{
		Ranks: 2, Program: "sh", Args: []string{"-c", `echo "$HOST_OF_RANK: $PMI_RANK, $MPI_LOCALRANKID of $MPI_LOCALNRANKS, $1"`, "sh", "argument"},
		Prefix: func(rank int) []string { return []string{env, fmt.Sprintf("HOST_OF_RANK=host%d", rank)} },
		Stdout: out,
	}))
	assert.Equal(t, []string{"host0: 0, 0 of 1, argument", "host1: 1, 0 of 1, argument"}, out.Sorted())
}
