package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asCommand in the environment makes this test program the command: one of another name
// and another module than Strand's own.
const asCommand = "HELLO_TRANSPORT_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// strand runs a command line and returns all that it says.
func strand(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), self(t), args...)
	// Under the race detector each process would sleep for a second before it ends.
	cmd.Env = append(os.Environ(), asCommand+"=1", "GORACE=atexit_sleep_ms=0")
	b, err := cmd.CombinedOutput()
	return string(b), err
}

func self(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// Every command that opens transports knows the one that is imported, and what starts
// itself again starts this very program.
func TestCommands(t *testing.T) {
	network := filepath.Join(t.TempDir(), "net.yaml")
	if err := os.WriteFile(network, []byte("hosts: [a, b]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		args string
		want []string
	}{
		{"version", "version", []string{" in github.com/strandmp/strand/examples/hello-transport "}},
		{"info", "info --btl unix,self", []string{"\n  unix  ", "  16K    64K    "}},
		{"parameters", "info --param btl unix --level developer", []string{"btl_unix_queue", "btl_unix_connect_timeout"}},
		{"bench", "bench pingpong --btl unix,self --sizes 8,64K --iters 3 --warmup 0", []string{"\n65536 ", "# unix @strand-"}},
		{"run", "run -n 2 --btl unix,self " + self(t) + " bench rate --sizes 8 --iters 2 --window 2", []string{"# unix @strand-"}},
		{"conformance", "conformance --btl unix --only attributes,hello", []string{"unix: 2 passed, 0 failed", "attributes  ", "btl.Receiver"}},
		{"compare", "compare --loopback --btl tcp,unix --runs 1 --loss 0 --ranks 2 --workload pingpong(size=1000,rounds=3,warmup=0) --out " + t.TempDir() + "/new",
			[]string{"Ping-pong: throughput", "unix"}},
		{"reach", "reach -i lo --try " + self(t), []string{"All that is chosen works."}},
		{"network", "net show " + network, []string{"any to any"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := strand(t, strings.Fields(tc.args)...)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
		})
	}
}

// The members of a comparison with raw sockets are this program too. Whether the machine
// was quiet enough for the result to be valid is not the point.
func TestBenchAgainst(t *testing.T) {
	out, _ := strand(t, "bench", "pingpong", "--btl", "unix,self", "--sizes", "8", "--iters", "3", "--blocks", "4", "--against", "raw", "--json")
	if !strings.Contains(out, `"rows"`) {
		t.Error(out)
	}
}

// Ranks on other hosts are started by a remote shell, which for once starts them here.
func TestCompareHosts(t *testing.T) {
	shell := filepath.Join(t.TempDir(), "shell")
	if err := os.WriteFile(shell, []byte("#!/bin/sh\nshift\nexec sh -c \"$*\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := strand(t, "compare", "--host", "a", "--host", "b", "--rsh", shell, "--btl", "tcp,unix", "--runs", "1",
		"--workload", "pingpong(size=1000,rounds=3,warmup=0)", "--out", filepath.Join(t.TempDir(), "new"))
	if err != nil || !strings.Contains(out, "Ping-pong: throughput") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestUnknownTransport(t *testing.T) {
	for _, command := range []string{"info", "bench pingpong", "conformance", "compare --loopback"} {
		out, err := strand(t, append(strings.Fields(command), "--btl", "unxi")...)
		if err == nil || !strings.Contains(out, `there is no transport "unxi"; did you mean unix? Available: sctp, self, sm, tcp, udp, unix. Any other has to be compiled into the program`) {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}
