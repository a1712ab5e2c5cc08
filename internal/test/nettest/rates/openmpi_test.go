//go:build linux

package rates_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

// agent writes a script in the place of ssh, which starts Open MPI's daemon on a
// host of the test network.
func agent(t *testing.T, dir string, hosts ...*testnet.Host) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("#!/bin/sh\nhost=$1\nshift\ncase $host in\n")
	for _, h := range hosts {
		fmt.Fprintf(&b, "%s) exec %s /bin/sh -c \"$*\";;\n", h.Name(), strings.Join(h.Prefix(), " "))
	}
	b.WriteString("esac\necho \"no host $host\" >&2\nexit 1\n")
	path := filepath.Join(dir, "agent")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o755))
	return path
}

// openMPIRate is what stream.c brings under Open MPI over links of these speeds.
func openMPIRate(t *testing.T, program string, window, seconds int, speeds ...int) (rate float64) {
	t.Helper()
	a, b := links(t, speeds...)
	sum := 0
	for _, s := range speeds {
		sum += s
	}
	cmd := a.Command(need.Program(t, "mpirun.openmpi", "openmpi-bin"), "--allow-run-as-root", "--bind-to", "none",
		"--host", a.Name()+","+b.Name(), "-np", "2", "--mca", "plm_rsh_agent", agent(t, t.TempDir(), a, b),
		"--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "oob_tcp_if_include", "10.1.0.0/24",
		"--mca", "btl_tcp_if_include", "10.0.0.0/8",
		program, fmt.Sprint(messagesIn(seconds, sum)), fmt.Sprint(window))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(10*seconds)*time.Second)
	defer cancel()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	require.NoError(t, cmd.Wait(), "%s", &out)
	_, text, found := strings.Cut(out.String(), "rate: ")
	require.True(t, found, "%s", &out)
	_, err := fmt.Sscanf(text, "%f", &rate)
	require.NoError(t, err, "%s", text)
	return rate
}

// Open MPI on the same hosts and links, for comparison. The test judges only that it still runs
// there, not how fast.
func TestOpenMPIOverTheSameLinks(t *testing.T) {
	if !need.Soaking() {
		need.CI(t, "it measures for seconds what is shown alone")
		t.Parallel() // what it measures is not looked at
	}
	compiler := need.Program(t, "mpicc.openmpi", "libopenmpi-dev")
	program := filepath.Join(t.TempDir(), "stream")
	out, err := exec.Command(compiler, "-O2", "-o", program, "testdata/stream.c").CombinedOutput()
	require.NoError(t, err, "%s", out)
	type run struct{ unit, seconds int }
	runs, windows, cases := []run{{200, 1}}, []int{2}, stripeCases[:1]
	if need.Soaking() {
		runs, windows, cases = []run{{250, 5}, {1000, 5}}, []int{1, 2}, stripeCases
	}
	for _, r := range runs {
		for _, window := range windows {
			one := openMPIRate(t, program, window, r.seconds, r.unit)
			t.Logf("Open MPI, %d messages at a time: one link of %d Mbit/s %.0f", window, r.unit, one)
			for _, c := range cases {
				speeds := c.in(r.unit)
				v := openMPIRate(t, program, window, r.seconds, speeds...)
				t.Logf("%v: %.0f, %.3f times one link", speeds, v, v/one)
			}
		}
	}
}
