package bench

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/strandmp/strand/internal/lines"
)

// peerSource is the program that does with MPI what strand.go does with Strand.
//
//go:embed mpi/peer.c
var peerSource []byte

// An implementation of MPI that Strand is compared with.
type implementation struct {
	name     string
	title    string
	compiler string // wraps the C compiler
	start    string // starts a job
	arguments,
	environ []string // so that it spins
	network,
	networkEnviron []string // and so that it uses TCP over the loopback, not shared memory
	headers  string // Debian's package with the compiler
	netpipe  string // NetPIPE's program for it
	fallback string // Debian's package with that program
}

var implementations = []implementation{
	{
		name: "openmpi", title: "Open MPI",
		compiler: "mpicc.openmpi", start: "mpirun.openmpi",
		arguments: []string{"--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
			"--mca", "mpi_yield_when_idle", "0", "-np", "2"},
		network: []string{"--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"},
		headers: "libopenmpi-dev", netpipe: "NPopenmpi", fallback: "netpipe-openmpi",
	},
	{
		name: "mpich", title: "MPICH",
		compiler: "mpicc.mpich", start: "mpiexec.mpich",
		arguments: []string{"-n", "2"},
		// Debian has built MPICH with one network library or another over the years. The
		// variables of the library that is not there do no harm.
		networkEnviron: []string{"MPIR_CVAR_NOLOCAL=1", "MPIR_CVAR_CH4_SHM_ENABLE=0",
			"UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo", "FI_PROVIDER=tcp", "FI_TCP_IFACE=lo"},
		headers: "libmpich-dev", netpipe: "NPmpich2", fallback: "netpipe-mpich2",
	},
}

// within is the implementation as it is used here: over TCP, or as it comes.
func (m *implementation) within(memory bool) *implementation {
	if memory {
		return m
	}
	over := *m
	over.arguments = slices.Concat(m.network, m.arguments)
	over.environ = slices.Concat(m.environ, m.networkEnviron)
	return &over
}

// compile makes the program that takes orders, in the directory.
func (m *implementation) compile(ctx context.Context, dir string) (program string, err error) {
	source := filepath.Join(dir, "peer.c")
	if err := os.WriteFile(source, peerSource, 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "peer-"+m.name)
	said, err := exec.CommandContext(ctx, m.compiler, "-O2", "-o", program, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s can not compile the peer: %w %.1000s", m.compiler, err, bytes.TrimSpace(said))
	}
	return program, nil
}

// launch returns what starts the program as a pair.
func (m *implementation) launch(program string) launcher {
	return func(ctx context.Context, socket string, output *lines.Beginning) error {
		cmd := m.command(ctx, output, program, socket)
		return cmd.Run()
	}
}

// command is two processes of a program. Ending it is left to the starter, which
// ends its processes when asked to.
func (m *implementation) command(ctx context.Context, output io.Writer, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, m.start, slices.Concat(m.arguments, []string{program}, args)...)
	cmd.Env = append(os.Environ(), m.environ...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// has reports whether a program is installed.
func has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// version is the first line of what the starter says about itself.
func (m *implementation) version(ctx context.Context) string {
	said, err := exec.CommandContext(ctx, m.start, "--version").Output()
	if err != nil {
		return m.title
	}
	for line := range strings.Lines(string(said)) {
		if fields := strings.Fields(line); len(fields) > 0 && strings.ContainsAny(fields[len(fields)-1], "0123456789") {
			return m.title + " " + fields[len(fields)-1]
		}
	}
	return m.title
}

// contender returns the pair for the implementation: our own program if it can be
// compiled, NetPIPE otherwise.
func (m *implementation) contender(ctx context.Context, w Workload, dir string) (contender, error) {
	c := contender{name: m.name}
	if !has(m.start) {
		return c, fmt.Errorf("--against %s: there is no %s here; on Debian: apt-get install %s", m.name, m.start, m.headers)
	}
	program, err := m.compile(ctx, dir)
	switch {
	case err == nil:
		c.start = func(ctx context.Context) (pair, error) { return startPair(ctx, m.name, m.launch(program)) }
		c.about = m.version(ctx)
	case w == PingPong && has(m.netpipe):
		c.start = func(context.Context) (pair, error) { return &netpipePair{m}, nil }
		c.about = m.version(ctx) + " by NetPIPE"
	case w == PingPong:
		return c, fmt.Errorf("--against %s: %w; on Debian: apt-get install %s, or %s for NetPIPE", m.name, err, m.headers, m.fallback)
	default:
		return c, fmt.Errorf("--against %s: %w; on Debian: apt-get install %s", m.name, err, m.headers)
	}
	c.about += ": " + strings.Join(append(slices.Clone(m.environ), m.arguments...), " ")
	return c, nil
}
