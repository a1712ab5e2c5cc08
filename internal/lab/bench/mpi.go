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
	"strconv"
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
	ranks    string // is followed by their number
	arguments,
	environ []string // without which it does not run here
	network,
	networkEnviron []string // so that it uses TCP over the loopback, not shared memory
	variants []variant
	headers  string // Debian's package with the compiler
	netpipe  string // NetPIPE's program for it
	fallback string // Debian's package with that program
}

// A variant is a way to start an implementation: its defaults, and what might be better.
type variant struct {
	name      string
	arguments []string
	spins     bool // it is no good where there are more ranks than processors
}

var implementations = []implementation{
	{
		name: "openmpi", title: "Open MPI",
		compiler: "mpicc.openmpi", start: "mpirun.openmpi", ranks: "-np",
		arguments: []string{"--allow-run-as-root", "--oversubscribe"},
		network:   []string{"--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"},
		variants: []variant{
			{name: "defaults"},
			{name: "unbound", arguments: []string{"--bind-to", "none", "--mca", "mpi_yield_when_idle", "0"}, spins: true},
		},
		headers: "libopenmpi-dev", netpipe: "NPopenmpi", fallback: "netpipe-openmpi",
	},
	{
		name: "mpich", title: "MPICH",
		compiler: "mpicc.mpich", start: "mpiexec.mpich", ranks: "-n",
		// Debian has built MPICH with one network library or another over the years. The
		// variables of the library that is not there do no harm.
		networkEnviron: []string{"MPIR_CVAR_NOLOCAL=1", "MPIR_CVAR_CH4_SHM_ENABLE=0",
			"UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo", "FI_PROVIDER=tcp", "FI_TCP_IFACE=lo"},
		variants: []variant{
			{name: "defaults"},
			{name: "bound", arguments: []string{"-bind-to", "core"}, spins: true},
		},
		headers: "libmpich-dev", netpipe: "NPmpich2", fallback: "netpipe-mpich2",
	},
}

// within is the implementation as it is used here: over TCP or as it comes, in one of its variants.
func (m *implementation) within(memory bool, v variant) *implementation {
	in := *m
	in.arguments = slices.Concat(m.arguments, v.arguments)
	if !memory {
		in.arguments = slices.Concat(m.network, in.arguments)
		in.environ = slices.Concat(m.environ, m.networkEnviron)
	}
	return &in
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

// launch returns what starts the program.
func (m *implementation) launch(program string) launcher {
	return func(ctx context.Context, ranks int, socket string, output *lines.Beginning) error {
		return m.command(ctx, ranks, output, program, socket).Run()
	}
}

// command is so many processes of a program. Ending it is left to the starter, which
// ends its processes when asked to.
func (m *implementation) command(ctx context.Context, ranks int, output io.Writer, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, m.start, slices.Concat(m.arguments, []string{m.ranks, strconv.Itoa(ranks), program}, args)...)
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

// contenders returns the implementation's variants: our own program if it can be
// compiled, NetPIPE otherwise.
func (m *implementation) contenders(ctx context.Context, memory bool, w Workload, dir string) ([]Contender, error) {
	if !has(m.start) {
		return nil, fmt.Errorf("--against %s: there is no %s here; on Debian: apt-get install %s", m.name, m.start, m.headers)
	}
	about := m.version(ctx)
	program, err := m.compile(ctx, dir)
	switch {
	case err == nil:
	case w == PingPong && has(m.netpipe):
		about += " by NetPIPE"
	case w == PingPong:
		return nil, fmt.Errorf("--against %s: %w; on Debian: apt-get install %s, or %s for NetPIPE", m.name, err, m.headers, m.fallback)
	default:
		return nil, fmt.Errorf("--against %s: %w; on Debian: apt-get install %s", m.name, err, m.headers)
	}
	var all []Contender
	for _, v := range m.variants {
		if v.spins && (w == Pairs || w == Coll) {
			continue
		}
		in := m.within(memory, v)
		c := Contender{Name: m.name, Variant: v.name, About: strings.Join(slices.Concat([]string{about + ":"}, in.environ, []string{m.start}, in.arguments), " ")}
		c.start = func(ctx context.Context, ranks int) (Job, error) {
			return startJob(ctx, dir, m.name, ranks, in.launch(program))
		}
		if program == "" {
			c.start = func(context.Context, int) (Job, error) { return &netpipePair{in, dir}, nil }
		}
		all = append(all, c)
	}
	return all, nil
}
