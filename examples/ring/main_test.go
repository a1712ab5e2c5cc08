package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/strandtest"
)

// rankEnv makes this test binary the program instead of its test.
const rankEnv = "RING_TEST_RANK"

func TestMain(m *testing.M) {
	if os.Getenv(rankEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestRing(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var out bytes.Buffer
			strandtest.Run(t, n, func(ctx context.Context, w *strand.World) error {
				if w.Rank() == 0 {
					return ring(ctx, w, 10, &out)
				}
				return ring(ctx, w, 10, io.Discard)
			})
			assert.Contains(t, out.String(), fmt.Sprintf("ring of %s, 10 rounds", plural(n, "rank")))
			opened := map[int]string{1: "", 2: "opened 1 connection;", 3: "opened 3 connections;", 8: "opened 8 connections;"}[n]
			assert.Contains(t, out.String(), opened)
			assert.Equal(t, n > 1, strings.Contains(out.String(), "opened"))
		})
	}
}

func TestNoRounds(t *testing.T) {
	strandtest.Run(t, 1, func(ctx context.Context, w *strand.World) error {
		require.ErrorContains(t, ring(ctx, w, 0, io.Discard), "-rounds 0")
		return nil
	})
}

// Many more processes than processors, and only as many connections as the ring
// has.
func TestProcesses(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	ranks := need.Times(16, 64)
	var out, errs bytes.Buffer
	err = job.Run(t.Context(), job.Config{
		Ranks: ranks, Program: program, Args: []string{"-rounds", "5"},
		Environ: []string{rankEnv + "=1"}, Stdout: &out, Stderr: &errs, Timeout: strandtest.Timeout,
	})
	require.NoError(t, err, "%s", errs.String())
	assert.Contains(t, out.String(), fmt.Sprintf("opened %d connections;", ranks))
	assert.Empty(t, errs.String())
}
