//go:build linux

package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

// remoteShell returns a command that takes a host's name and a command line, as ssh does: it runs
// the line in a shell, in another process group. It knows two hosts that share a network, one
// that greets, and one that never says anything. A file in the folder has the number of each
// host's last process.
func remoteShell(t *testing.T) (shell []string, folder string) {
	t.Helper()
	need.Program(t, "setsid", "util-linux")
	n := testnet.New(t)
	a, b := n.Host("a"), n.Host("b")
	n.Link(a, b, testnet.Subnet("10.7.0.0/24"))
	folder = t.TempDir()
	script := "#!/bin/sh\nhost=$1\nshift\necho $$ >" + folder + "/$host\ncase $host in\n"
	for _, h := range []*testnet.Host{a, b} {
		script += fmt.Sprintf("%s) exec '%s' setsid -w sh -c \"$*\";;\n", h.Name(), strings.Join(h.Prefix(), "' '"))
	}
	script += "greets) echo Welcome;;\nsilent) exec sleep 600;;\n" +
		"*) echo \"connect to host $host: No route to host\" >&2; exit 255;;\nesac\n"
	path := filepath.Join(folder, "shell")
	require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
	return []string{path}, folder
}

// realHosts are hosts of a remote shell.
func realHosts(t *testing.T, shell []string, names ...string) Hosts {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	h := Hosts{Build: testBuild}
	for _, name := range names {
		h.Hosts = append(h.Hosts, remote.Host{Name: name, Shell: shell, Program: self, Patience: time.Minute})
	}
	return h
}

func TestBetweenHosts(t *testing.T) {
	leak.Check(t)
	shell, _ := remoteShell(t)
	ground := realHosts(t, shell, "a", "b")
	require.NoError(t, ground.Reach(t.Context()))
	p := plan(t, "tcp,sctp", small+",farm(tasks=20),hol", 0)
	p.Ranks, p.Runs = 3, 1
	c := config(t, p, ground, "")
	c.File = filepath.Join(t.TempDir(), "results.json")
	_, err := Run(t.Context(), c)
	require.NoError(t, err)

	r, err := results.Load(c.File)
	require.NoError(t, err)
	assert.Equal(t, results.Links{Kind: results.Real, Why: "between a, b"}, r.Links)
	require.Len(t, r.Hosts, 2)
	assert.Equal(t, []string{"a", "b"}, []string{r.Hosts[0].Host, r.Hosts[1].Host})
	assert.Positive(t, r.Hosts[1].CPUs)
	require.Len(t, r.Cells, 3)
	assert.Contains(t, r.Cells[2].Unable, "by one clock")
	for _, cell := range r.Cells[:2] {
		assert.Nil(t, cell.Link)
		require.Len(t, cell.Runs, 2)
		for _, run := range cell.Runs {
			require.Empty(t, run.Error)
			assert.Nil(t, run.Network)
			require.NotEmpty(t, run.Rails)
			if run.Variant == "tcp" {
				assert.Contains(t, run.Rails[0].Name, "10.7.0.", "over the link between the hosts")
			}
		}
	}
	assert.Equal(t, 3, r.Cells[1].Ranks)
}

// A rank that fails says so with its host's name, as it does here.
func TestCrashOnAnotherHost(t *testing.T) {
	leak.Check(t)
	shell, _ := remoteShell(t)
	p := plan(t, "tcp", small, 0)
	p.Runs = 1
	r, err := Run(t.Context(), config(t, p, realHosts(t, shell, "a", "b"), crash+"tcp"))
	require.NoError(t, err)
	failures := r.Cells[0].Failures("tcp")
	require.Len(t, failures, 1)
	assert.Regexp(t, `(?s)rank \d on host [ab] .*exited with status 2.*as the test wants it`, failures[0])
}

// A rank that is ended here ends there, though no signal reaches it.
func TestRankElsewhereEndsWithItsLauncher(t *testing.T) {
	leak.Check(t)
	shell, folder := remoteShell(t)
	p := plan(t, "tcp", small, 0)
	p.Runs, p.Timeout = 1, time.Second
	r, err := Run(t.Context(), config(t, p, realHosts(t, shell, "a", "b"), hang+"tcp"))
	require.NoError(t, err)
	failures := r.Cells[0].Failures("tcp")
	require.Len(t, failures, 1)
	assert.Contains(t, failures[0], "not over within --timeout 1s")
	for _, host := range []string{"a", "b"} {
		pid, err := os.ReadFile(filepath.Join(folder, host))
		require.NoError(t, err)
		program := "/proc/" + strings.TrimSpace(string(pid)) + "/exe"
		require.Eventually(t, func() bool {
			_, err := os.Readlink(program)
			return err != nil // it is gone, or nobody has asked how it ended
		}, time.Minute, 10*time.Millisecond, "host %s: the rank runs on", host)
	}
}

func TestHostsThatCanNotBeUsed(t *testing.T) {
	leak.Check(t)
	shell, _ := remoteShell(t)
	for want, change := range map[string]func(*remote.Host){
		"host c: no strand by .*exit status 255.*\nconnect to host c: No route to host":     func(h *remote.Host) { h.Name = "c" },
		"host b: .*exit status 127.* --host-strand names another place\n.*not found":        func(h *remote.Host) { h.Program = "/nowhere/strand" },
		"host b: .* --host-strand names another place, --push brings it there\n.*not found": func(h *remote.Host) { h.Program, h.Carriable = "/nowhere/strand", true },
		"host greets: .*it said \"Welcome\\\\n\", which strand would not":                   func(h *remote.Host) { h.Name = "greets" },
		"host silent: .*nothing within 100ms":                                               func(h *remote.Host) { h.Name, h.Patience = "silent", 100*time.Millisecond },
		"host b: .*--rsh is a command":                                                      func(h *remote.Host) { h.Shell = []string{"/nowhere/ssh"} },
	} {
		hosts := realHosts(t, shell, "a", "b")
		change(&hosts.Hosts[1])
		err := hosts.Reach(t.Context())
		require.Error(t, err)
		assert.Regexp(t, "(?s)^"+want, err.Error())
	}
	hosts := realHosts(t, shell, "a", "b")
	hosts.Build = "another build"
	err := hosts.Reach(t.Context())
	require.ErrorContains(t, err, `it is another one, "test build"; this takes another build as `)
	assert.Contains(t, err.Error(), "host a: ")
	assert.Contains(t, err.Error(), "host b: ")
}
