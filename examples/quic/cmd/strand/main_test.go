package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asCommand in the environment makes this test program the command.
const asCommand = "QUIC_EXAMPLE_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// strand runs a command line and returns all that it says.
func strand(t *testing.T, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	// Under the race detector each process would sleep for a second before it ends.
	cmd.Env = append(os.Environ(), asCommand+"=1", "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// The command knows the transport, and measures it beside another.
func TestCommands(t *testing.T) {
	for args, want := range map[string]string{
		"info --btl quic,self": "\n  quic  ",
		"compare --loopback --btl tcp,quic --runs 1 --loss 0 --ranks 2 --workload pingpong(size=1000,rounds=3,warmup=0) --out " + t.TempDir() + "/new": "quic",
	} {
		if out := strand(t, strings.Fields(args)...); !strings.Contains(out, want) {
			t.Errorf("no %q in what %s says:\n%s", want, args, out)
		}
	}
}

// Programs that know nothing of the transport have it by one more file with an import, which
// the overlay of go build puts beside their own.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	extra := filepath.Join(dir, "quic.go")
	if err := os.WriteFile(extra, []byte("package main\n\nimport _ \"github.com/strandmp/strand/examples/quic/strandquic\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for program, args := range map[string]string{"ring": "--rounds 3", "wordfreq": "-max 1M"} {
		t.Run(program, func(t *testing.T) {
			source, err := filepath.Abs(filepath.Join("../../..", program, "quic.go"))
			if err != nil {
				t.Fatal(err)
			}
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{source: extra}})
			if err != nil {
				t.Fatal(err)
			}
			list, binary := filepath.Join(dir, program+".json"), filepath.Join(dir, program)
			if err := os.WriteFile(list, overlay, 0o600); err != nil {
				t.Fatal(err)
			}
			build := exec.CommandContext(t.Context(), "go", "build", "-overlay", list, "-o", binary, "github.com/strandmp/strand/examples/"+program)
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Log(strand(t, append(strings.Fields("run -n 4 --btl quic,self "+binary), strings.Fields(args)...)...))
		})
	}
}
