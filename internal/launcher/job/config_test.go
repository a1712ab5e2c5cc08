package job

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/param"
)

func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string, mode os.FileMode) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
	}
	write("text", "hello", 0o644)
	write("noformat", "hello", 0o755)
	write("here", "#!/bin/sh\n", 0o755)

	for _, tc := range []struct {
		config Config
		status int
		want   []string
	}{
		{Config{Ranks: 0, Program: "true"}, 2, []string{"-n 0", "1 to 4096"}},
		{Config{Ranks: -3, Program: "true"}, 2, []string{"-n -3"}},
		{Config{Ranks: 1 << 30, Program: "true"}, 2, []string{"-n 1073741824"}},
		{Config{Ranks: 1}, 2, []string{"no program given", "strand run -n 4"}},
		{Config{Ranks: 1, Program: "true", Timeout: -time.Second}, 2, []string{"--timeout -1s"}},
		{Config{Ranks: 1, Program: "true", Grace: -time.Second}, 2, []string{"--grace -1s"}},
		{Config{Ranks: 1, Program: "true", Environ: []string{"=x"}}, 2, []string{`--env "=x"`}},
		{Config{Ranks: 1, Program: "true", Environ: []string{"PMI_RANK=1"}}, 2, []string{"--env PMI_RANK", "itself"}},
		{Config{Ranks: 1, Program: "true", Environ: []string{"LOCAL_TEST_ABSENT"}}, 2, []string{"--env LOCAL_TEST_ABSENT", "not set"}},
		{Config{Ranks: 1, Program: "no-such-program"}, 127, []string{`"no-such-program"`, "PATH"}},
		{Config{Ranks: 1, Program: "./no-such-program"}, 127, []string{"no such file", "go build -o ./no-such-program"}},
		{Config{Ranks: 1, Program: "here"}, 127, []string{"did you mean ./here?"}},
		{Config{Ranks: 1, Program: "./text"}, 126, []string{"chmod +x ./text"}},
		{Config{Ranks: 1, Program: "./noformat"}, 126, []string{"#!"}},
		{Config{Ranks: 1, Program: dir}, 126, []string{"is a directory"}},
	} {
		err := Run(context.Background(), tc.config)
		for _, want := range tc.want {
			assert.ErrorContains(t, err, want)
		}
		var status interface{ ExitStatus() int }
		require.ErrorAs(t, err, &status, "%v", err)
		assert.Equal(t, tc.status, status.ExitStatus(), "%v", err)
	}
}

func TestRefusedFlags(t *testing.T) {
	c, out := shell("echo started", 1)
	c.Flags = []param.Setting{{Name: "nosuch", Text: "1"}}
	refused := errors.New("nosuch: unknown")
	c.Validate = func(got []param.Setting, _ []string) error {
		assert.Equal(t, c.Flags, got)
		return refused
	}
	assert.ErrorIs(t, Run(context.Background(), c), refused)
	assert.Empty(t, out.String())
}
