package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/examples/nas/npb"
	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/strandtest"
)

// rankEnv makes this test binary the program instead of its test.
const rankEnv = "NAS_TEST_RANK"

func TestMain(m *testing.M) {
	if os.Getenv(rankEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// processes runs the program as strand run starts it.
func processes(t *testing.T, ranks int, args ...string) (out, errs string, err error) {
	program, err := os.Executable()
	require.NoError(t, err)
	var o, e bytes.Buffer
	err = job.Run(t.Context(), job.Config{
		Ranks: ranks, Program: program, Args: args, Environ: []string{rankEnv + "=1"}, Stdout: &o, Stderr: &e, Timeout: strandtest.Timeout,
	})
	return o.String(), e.String(), err
}

func TestProcesses(t *testing.T) {
	out, errs, err := processes(t, 4, "mg", "s")
	require.NoError(t, err, "%s", errs)
	assert.Contains(t, out, "MG Benchmark Completed.")
	assert.Contains(t, out, "=               SUCCESSFUL")

	out, errs, err = processes(t, 2, "-json", "IS", "S")
	require.NoError(t, err, "%s", errs)
	var r npb.Result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.True(t, r.Verified())
	assert.Equal(t, 2, r.Ranks)
}

func TestBadArguments(t *testing.T) {
	for want, args := range map[string][]string{
		"nas: 1 arguments: want a kernel and a class; see nas -h": {"cg"},
		`nas: kernel "dt": want one of ep, is, cg, mg, ft, lu`:    {"dt", "S"},
		`nas: class "E": want S, W, A or B`:                       {"cg", "E"},
	} {
		_, errs, err := processes(t, 1, args...)
		require.Error(t, err)
		assert.Contains(t, errs, want)
	}
	_, errs, err := processes(t, 3, "cg", "S")
	require.Error(t, err)
	assert.Contains(t, errs+err.Error(), "CG: 3 ranks: want a power of two")
}
