package launch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/internal/launcher/pmi"
	"github.com/strandmp/strand/internal/machine"
	"github.com/strandmp/strand/internal/openfiles"
	"github.com/strandmp/strand/param"
)

// Launchers that are known by name.
const (
	strandRun = "strand run"
	hydra     = "hydra"
	slurm     = "slurm"
)

// JobEnv is set by "strand run" in the processes it starts, to the name of the
// job.
const JobEnv = param.ReservedEnv + "JOB"

// Variables are those by which a launcher tells a process that it is a rank, and [JobEnv]. A launcher sets
// them itself, and passes none on that an outer launcher has set.
func Variables() []string {
	return []string{"PMI_FD", "PMI_RANK", "PMI_SIZE", "PMI_PORT", "PMI_ID", JobEnv}
}

// joined says that this process has joined its job. It can not join again: the number in PMI_FD
// may be another file's by now, and at PMI_PORT the rank is taken.
var joined atomic.Bool

// FromEnvironment returns the job that this process was started in: a rank of
// a launcher's job, or a world of one. The context bounds the first exchange
// with the launcher.
//
// A launcher lets a process join once: a second call fails.
func FromEnvironment(ctx context.Context) (Job, error) {
	given.Context(ctx)
	return fromEnvironment(ctx, os.LookupEnv, machine.Hostname())
}

// lookup is os.LookupEnv.
type lookup func(name string) (value string, found bool)

func fromEnvironment(ctx context.Context, env lookup, hostname string) (Job, error) {
	var m *member
	var err error
	defer silence(hostname, whereLauncherIs(env))()
	switch {
	case has(env, "PMI_FD"):
		m, err = joinOnce(func() (*member, error) { return joinByDescriptor(env) })
	case has(env, "PMI_PORT"):
		m, err = joinOnce(func() (*member, error) { return joinByPort(ctx, env) })
	default:
		if err := refuseForeign(env); err != nil {
			return nil, err
		}
		return newSingleton(hostname), nil
	}
	if err != nil {
		return nil, err
	}
	mark, _ := env(JobEnv) // whose job it is is not known before Init
	m.hostname, m.launcher = hostname, launcherName(env, mark)
	if err := m.client.Init(ctx); err != nil {
		return nil, errors.Join(m.explain(m.onceOnly(err, env)), m.client.Drop())
	}
	m.launcher = launcherName(env, m.Name())
	if err := m.checkPlace(); err != nil {
		return nil, errors.Join(err, m.client.Drop())
	}
	if err := m.findCompany(ctx, env); err != nil {
		return nil, errors.Join(m.explain(err), m.client.Drop())
	}
	m.takeControl(env)
	return m, nil
}

// checkPlace refuses if the launcher takes this process for another rank than its variables say: two ranks would then be one.
func (m *member) checkPlace() error {
	p := m.client.Place()
	if p == (pmi.Place{}) || p.Rank == m.rank && p.Size == m.size {
		return nil
	}
	return fmt.Errorf("launch: PMI_RANK=%d and PMI_SIZE=%d (from the environment), but %s has started this process as rank %d of %d: "+
		"has a script changed the variables? Let them be, and say with -n how many ranks there are", m.rank, m.size, m.launcher, p.Rank, p.Size)
}

// joinOnce refuses if this process has joined. An attempt does not count if join has failed.
func joinOnce(join func() (*member, error)) (*member, error) {
	if !joined.CompareAndSwap(false, true) {
		return nil, errors.New("launch: this process has joined its job already, or has tried to: a launcher lets it do so once; keep the first world")
	}
	m, err := join()
	if err != nil {
		joined.Store(false)
	}
	return m, err
}

// onceOnly adds why a launcher that lives has closed the connection before the first word: a script has inherited it, and runs a
// second program. Or a user does, in a shell that is a rank of one (srun --pty).
func (m *member) onceOnly(err error, env lookup) error {
	if !errors.Is(err, pmi.ErrGone) {
		return err
	}
	alone := ""
	if m.size == 1 {
		alone = ", or, as this is a rank of one, begin each as a world of its own: env -u " + wayToLauncher(env)
	}
	return fmt.Errorf("%w, or another program of this rank has left the job before: a rank joins its job once; "+
		"for several programs, one after the other, start the launcher several times%s", err, alone)
}

// joinByDescriptor takes the socket that the launcher left open.
func joinByDescriptor(env lookup) (*member, error) {
	fd, err := number(env, "PMI_FD", 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	size, err := number(env, "PMI_SIZE", 1, pmi.MaxRanks)
	if err != nil {
		return nil, err
	}
	rank, err := number(env, "PMI_RANK", 0, size-1)
	if err != nil {
		return nil, err
	}
	conn, err := takeSocket(fd)
	if err != nil {
		if openfiles.Exhausted(err) {
			return nil, fmt.Errorf("launch: the connection to the launcher, PMI_FD=%d: %w", fd, err)
		}
		return nil, fmt.Errorf("launch: PMI_FD=%d (from the environment) is no socket to a launcher: %w; "+
			"if this is to be a rank, what starts it must leave the descriptor open (subprocess of Python: close_fds=False); "+
			"a program that a rank starts beside itself must not inherit the variable: unset PMI_FD there", fd, err)
	}
	return &member{client: pmi.NewClient(conn), rank: rank, size: size}, nil
}

// takeSocket makes a connection of an inherited descriptor. Programs started from here do not
// inherit it in turn. A descriptor that is no socket stays as it was.
func takeSocket(fd int) (net.Conn, error) {
	copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(copied), "PMI_FD")
	conn, err := net.FileConn(file) // copies once more
	_ = file.Close()
	if err == nil {
		_ = unix.Close(fd)
	}
	return conn, err
}

// joinByPort connects to a launcher that listens (mpiexec -pmi-port).
func joinByPort(ctx context.Context, env lookup) (*member, error) {
	address, _ := env("PMI_PORT")
	id, found := env("PMI_ID")
	if !found {
		return nil, errors.New("launch: PMI_PORT is set and PMI_ID is not: a launcher sets both; unset PMI_PORT to run a world of one")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // net has no word of it
		}
		return nil, fmt.Errorf("launch: can not reach the launcher at PMI_PORT=%s (from the environment): %w; "+
			"if there is none any more, unset PMI_PORT to run a world of one", address, err)
	}
	m := &member{client: pmi.NewClient(conn)}
	if m.rank, m.size, err = m.client.Attach(ctx, id); err != nil {
		return nil, errors.Join(fmt.Errorf("launch: PMI_PORT=%s, PMI_ID=%s: %w", address, id, err), m.client.Drop())
	}
	return m, nil
}

// launcherName names the launcher of a job, one of several that speak PMI-1. Each may run inside of another one,
// whose marks its ranks then have too, and may lack its own: Hydra's helpers that srun has begun set none. The name of the
// job, once it is known, says whose it is. Else Hydra counts first: mpiexec may run inside a Slurm allocation.
func launcherName(env lookup, job string) string {
	mark, found := env(JobEnv)
	allocation, _ := env("SLURM_JOB_ID")
	step, isStep := env(slurmStep)
	switch {
	case found && mark == job:
		return strandRun
	case strings.HasPrefix(job, hydrasJobs):
		return hydra
	case isStep && job == allocation+"."+step:
		return slurm
	case has(env, "HYDI_CONTROL_FD"):
		return hydra
	case isStep:
		return slurm
	}
	return "PMI-1"
}

// hydrasJobs begins Hydra's names of jobs.
const hydrasJobs = "kvs_"

func has(env lookup, name string) bool {
	_, found := env(name)
	return found
}

// number reads a variable that must be a whole number.
func number(env lookup, name string, low, high int) (int, error) {
	text, found := env(name)
	if !found {
		return 0, fmt.Errorf("launch: %s is not set, though its launcher set PMI_FD: unset PMI_FD to run a world of one", name)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("launch: %s=%.40q (from the environment): want a whole number from %d to %d, as a launcher sets it", name, text, low, high)
	}
	return n, nil
}
