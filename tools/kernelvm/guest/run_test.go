//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/tools/kernelvm/plan"
)

// script is a machine whose test binary is a script.
func script(t *testing.T, text string) (*machine, plan.Test) {
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "output"))
	require.NoError(t, err)
	t.Cleanup(func() { out.Close() })
	file := filepath.Join(dir, "run")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	return &machine{output: out}, plan.Test{Package: "m/a", Binary: file, Dir: dir}
}

func printed(t *testing.T, m *machine) string {
	text, err := os.ReadFile(m.output.Name())
	require.NoError(t, err)
	return string(text)
}

func TestRun(t *testing.T) {
	m, test := script(t, `echo "$STRANDTEST_KERNEL $EXTRA $@"; pwd`)
	m.plan.Flags, m.plan.Env = []string{"-test.v"}, []string{"EXTRA=more"}
	status, err := m.run(test, time.Minute)
	require.NoError(t, err)
	assert.Zero(t, status)
	assert.Equal(t, "1 more -test.timeout=50s -test.v\n"+test.Dir+"\n", printed(t, m))
}

func TestRunThatFails(t *testing.T) {
	m, test := script(t, "exit 3")
	status, err := m.run(test, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, 3, status)

	m, test = script(t, "kill -KILL $$")
	status, err = m.run(test, time.Minute)
	assert.ErrorContains(t, err, "killed by signal killed")
	assert.Equal(t, 137, status)

	test.Binary = "/no/such/binary"
	status, err = m.run(test, time.Minute)
	assert.ErrorContains(t, err, "could not be run")
	assert.Equal(t, 1, status)
}
