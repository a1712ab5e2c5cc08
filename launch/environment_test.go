package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/launcher/control"
	"github.com/strandmp/strand/internal/launcher/pmi"
)

// environ is an environment made for a test.
type environ map[string]string

func (e environ) lookup(name string) (string, bool) {
	value, found := e[name]
	return value, found
}

func (e environ) join(t *testing.T) (Job, error) {
	t.Helper()
	joined.Store(false)
	return fromEnvironment(context.Background(), e.lookup, "testhost")
}

// noEvents is a launcher that does not care.
type noEvents struct{}

func (noEvents) Initialised(int)        {}
func (noEvents) Finalised(int)          {}
func (noEvents) Aborted(int, pmi.Abort) {}

// launched serves a job and returns each rank's environment.
func launched(t *testing.T, size int) []environ {
	t.Helper()
	server, err := pmi.NewServer("strand_test", size, noEvents{})
	require.NoError(t, err)
	var serving sync.WaitGroup
	envs := make([]environ, size)
	for rank := range envs {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		require.NoError(t, err)
		f := os.NewFile(uintptr(fds[0]), "server")
		conn, err := net.FileConn(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		serving.Go(func() { _ = server.Serve(rank, conn) })
		envs[rank] = environ{"PMI_FD": strconv.Itoa(fds[1]), "PMI_RANK": strconv.Itoa(rank), "PMI_SIZE": strconv.Itoa(size)}
	}
	t.Cleanup(func() { server.Close(); serving.Wait() })
	return envs
}

func TestWorldOfOne(t *testing.T) {
	ctx := context.Background()
	j, err := environ{}.join(t)
	require.NoError(t, err)
	assert.Equal(t, 0, j.Rank())
	assert.Equal(t, 1, j.Size())
	assert.Equal(t, "none", j.Launcher())
	assert.Equal(t, "testhost", j.Hostname())
	assert.NotEmpty(t, j.Name())

	require.NoError(t, j.Put(ctx, "key", "any\x00 value"))
	require.NoError(t, j.Barrier(ctx))
	got, err := j.Get(ctx, "key")
	require.NoError(t, err)
	assert.Equal(t, "any\x00 value", got)
	_, err = j.Get(ctx, "absent")
	assert.ErrorIs(t, err, ErrNoKey)
	assert.Error(t, j.Put(ctx, "", "v"))

	ended, cancel := context.WithCancel(ctx)
	cancel()
	assert.ErrorIs(t, j.Barrier(ended), context.Canceled)
	assert.ErrorIs(t, j.Put(ended, "late", "v"), context.Canceled)
	require.NoError(t, j.Close())
	assert.ErrorIs(t, j.Barrier(ctx), ErrClosed)
	assert.ErrorIs(t, j.Put(ctx, "key", "v"), ErrClosed)
}

func TestJoinByDescriptor(t *testing.T) {
	ctx := context.Background()
	envs := launched(t, 4)
	long := strings.Repeat("\x00 long=", 3000)
	jobs := make([]Job, len(envs))
	for rank, env := range envs {
		var err error
		jobs[rank], err = env.join(t)
		require.NoError(t, err)
		assert.Equal(t, rank, jobs[rank].Rank())
		assert.Equal(t, 4, jobs[rank].Size())
		assert.Equal(t, "strand_test", jobs[rank].Name())
		assert.Equal(t, "PMI-1", jobs[rank].Launcher())
	}
	errs := make([]error, len(jobs))
	var all sync.WaitGroup
	for rank, j := range jobs {
		all.Go(func() { errs[rank] = exchange(ctx, j, long) })
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
}

// A script that runs one program after the other as one rank is told what is wrong with that.
func TestSecondProgramOfARank(t *testing.T) {
	env := launched(t, 1)[0]
	fd, err := strconv.Atoi(env["PMI_FD"])
	require.NoError(t, err)
	again, err := syscall.Dup(fd) // that of the script
	require.NoError(t, err)
	j, err := env.join(t)
	require.NoError(t, err)
	require.NoError(t, j.Close())
	env["PMI_FD"] = strconv.Itoa(again)
	_, err = env.join(t)
	assert.ErrorIs(t, err, pmi.ErrGone)
	assert.ErrorContains(t, err, "another program of this rank has left the job before: a rank joins its job once")
	assert.ErrorContains(t, err, "env -u PMI_FD", "a shell of one rank, as srun --pty begins, has nobody to find")
}

// What starts a program as a rank may close what it does not know, as Python's subprocess does. To unset the variable would make
// as many worlds of one.
func TestDescriptorClosedOnTheWay(t *testing.T) {
	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer file.Close()
	for _, fd := range []string{"1000000", strconv.Itoa(int(file.Fd()))} { // closed, or something else's by now
		_, err := environ{"PMI_FD": fd, "PMI_RANK": "1", "PMI_SIZE": "2"}.join(t)
		assert.ErrorContains(t, err, "close_fds=False")
		assert.ErrorContains(t, err, "unset PMI_FD")
	}
	_, err = environ{"PMI_PORT": "127.0.0.1:1", "PMI_ID": "0"}.join(t)
	assert.ErrorContains(t, err, "unset PMI_PORT")
}

// exchange publishes a value in each rank and reads that of all.
func exchange(ctx context.Context, j Job, value string) error {
	if err := j.Put(ctx, fmt.Sprintf("address of %d", j.Rank()), fmt.Sprint(j.Rank(), value)); err != nil {
		return err
	}
	if err := j.Barrier(ctx); err != nil {
		return err
	}
	for rank := range j.Size() {
		got, err := j.Get(ctx, fmt.Sprintf("address of %d", rank))
		if err != nil {
			return err
		}
		if got != fmt.Sprint(rank, value) {
			return fmt.Errorf("rank %d read %d other bytes of rank %d", j.Rank(), len(got), rank)
		}
	}
	if _, err := j.Get(ctx, "absent"); !errors.Is(err, ErrNoKey) {
		return fmt.Errorf("the error of an absent key is %s", fmt.Sprint(err))
	}
	if err := j.Barrier(ctx); err != nil {
		return err
	}
	return j.Close()
}

func TestAbort(t *testing.T) {
	for launcher, want := range map[string]string{
		"":     "strand: rank 0 on testhost aborts the job with code 7: as the test wants\n",
		JobEnv: "", // strand run reports it itself
	} {
		env := launched(t, 1)[0]
		if launcher != "" {
			env[launcher] = "strand_test"
		}
		j, err := env.join(t)
		require.NoError(t, err)
		assert.Equal(t, want, stderrOf(t, func() { j.Abort(7, "as the test wants") }))
		require.NoError(t, j.Close())
	}
	j, err := environ{}.join(t)
	require.NoError(t, err)
	assert.Contains(t, stderrOf(t, func() { j.Abort(3, "alone") }), "code 3: alone")
}

// stderrOf returns what a function writes to standard error.
func stderrOf(t *testing.T, f func()) string {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer file.Close()
	before := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = before }()
	f()
	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	return string(text)
}

// A script that changes a rank's variables is told so, before the others look for that rank.
func TestChangedVariables(t *testing.T) {
	for _, changed := range []environ{{"PMI_RANK": "0"}, {"PMI_SIZE": "3"}, {"PMI_RANK": "0", "PMI_SIZE": "1"}} {
		env := launched(t, 2)[1]
		maps.Copy(env, changed)
		_, err := env.join(t)
		assert.ErrorContains(t, err, fmt.Sprintf("launch: PMI_RANK=%s and PMI_SIZE=%s (from the environment), but PMI-1 has started this process as rank 1 of 2: has a script changed",
			env["PMI_RANK"], env["PMI_SIZE"]))
	}
}

func TestJoinOnce(t *testing.T) {
	env := launched(t, 1)[0]
	j, err := env.join(t)
	require.NoError(t, err)
	_, err = fromEnvironment(context.Background(), env.lookup, "testhost")
	assert.ErrorContains(t, err, "has joined its job already")
	require.NoError(t, j.Close())
}

func TestJoinOnceByPort(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, err := pmi.NewServer("strand_test", 1, noEvents{})
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- serveByPort(listener, server) }()
	t.Cleanup(func() { server.Close(); _ = listener.Close(); <-served })

	_, err = environ{"PMI_PORT": "nonsense", "PMI_ID": "0"}.join(t)
	require.ErrorContains(t, err, "can not reach")
	env := environ{"PMI_PORT": listener.Addr().String(), "PMI_ID": "0"}
	j, err := fromEnvironment(context.Background(), env.lookup, "testhost")
	require.NoError(t, err, "the attempt that failed does not count")
	_, err = fromEnvironment(context.Background(), env.lookup, "testhost")
	assert.ErrorContains(t, err, "has joined its job already")
	require.NoError(t, j.Close())
}

// serveByPort is a launcher of one rank that connects to it. Any other connection
// stays without an answer, and ends with the listener.
func serveByPort(listener net.Listener, server *pmi.Server) error {
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	if _, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil {
		return errors.Join(err, conn.Close())
	}
	_ = listener.Close()
	if _, err := conn.Write([]byte("cmd=initack\ncmd=set size=1\ncmd=set rank=0\ncmd=set debug=0\n")); err != nil {
		return errors.Join(err, conn.Close())
	}
	return server.Serve(0, conn)
}

func TestLauncherName(t *testing.T) {
	for want, env := range map[string]environ{
		strandRun: {JobEnv: "strand_test", "HYDI_CONTROL_FD": "7", "SLURM_STEP_ID": "0"},
		"hydra":   {JobEnv: "strand_outer", "HYDI_CONTROL_FD": "7", "SLURM_STEP_ID": "0"},
		"slurm":   {JobEnv: "strand_outer", "SLURM_STEP_ID": "0"},
		"PMI-1":   {},
	} {
		assert.Equal(t, want, launcherName(env.lookup, "strand_test"))
	}
}

// In an allocation of Slurm's mpiexec begins its helpers by srun, whose marks the ranks then have, and not Hydra's own. And srun may run
// within mpiexec. The name of the job says whose it is.
func TestLauncherNameByTheJob(t *testing.T) {
	both := environ{"HYDI_CONTROL_FD": "7", "SLURM_JOB_ID": "31", "SLURM_STEP_ID": "0"}
	for _, env := range []environ{both, {"SLURM_JOB_ID": "31", "SLURM_STEP_ID": "0"}} {
		assert.Equal(t, "hydra", launcherName(env.lookup, "kvs_385_0_1758424217_vm"))
		assert.Equal(t, "slurm", launcherName(env.lookup, "31.0"))
	}
	assert.Equal(t, "hydra", launcherName(both.lookup, ""), "before the name is known")
	assert.Equal(t, "hydra", launcherName(environ{}.lookup, "kvs_385_0_1758424217_vm"), "begun by any other means")
	assert.Equal(t, "PMI-1", launcherName(environ{}.lookup, "31.0"))
}

// A rank of mpiexec or srun has the variables of a strand run around them. It leaves that one's channel alone, whose number may
// be another file's here, and says itself why it aborts.
func TestLauncherWithinStrandRun(t *testing.T) {
	channel, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	defer func() { _ = syscall.Close(channel[0]) }()
	defer func() { _ = syscall.Close(channel[1]) }()
	env := launched(t, 1)[0]
	env[JobEnv], env[control.Variable] = "strand_outer", strconv.Itoa(channel[1])
	j, err := env.join(t)
	require.NoError(t, err)
	assert.Equal(t, "PMI-1", j.Launcher())
	assert.False(t, j.(Listener).CanCall())
	_, err = syscall.Write(channel[1], []byte("still open"))
	require.NoError(t, err)
	assert.Contains(t, stderrOf(t, func() { j.Abort(7, "as the test wants") }), "as the test wants")
	require.NoError(t, j.Close())
}

func TestLocalRanks(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "2": 2, "0": 0, "3": 0, "-1": 0, "two": 0, "": 0} {
		t.Run(text, func(t *testing.T) {
			env := launched(t, 2)[0]
			env[JobEnv], env["MPI_LOCALNRANKS"] = "strand_test", text
			j, err := env.join(t)
			require.NoError(t, err)
			assert.Equal(t, want, j.(Local).LocalRanks())
			require.NoError(t, j.Close())
		})
	}
}

func TestLocalProcessors(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "96": 96, "0": 0, "-1": 0, "two": 0, "": 0} {
		t.Run(text, func(t *testing.T) {
			env := launched(t, 2)[0]
			env[JobEnv], env[ProcessorsEnv] = "strand_test", text
			j, err := env.join(t)
			require.NoError(t, err)
			assert.Equal(t, want, j.(Local).LocalProcessors())
			require.NoError(t, j.Close())
		})
	}
}

// A launcher within another one passes the outer one's variables on. They say nothing of its own ranks.
func TestCompanyOfAnInnerLauncher(t *testing.T) {
	for _, outer := range []environ{
		{"MPI_LOCALNRANKS": "1", ProcessorsEnv: "1000", JobEnv: "strand_outer"},
		{"MPI_LOCALNRANKS": "1", "HYDI_CONTROL_FD": "7"},
		{}, // srun has no such variables
	} {
		env := launched(t, 2)[1]
		maps.Copy(env, outer)
		j, err := env.join(t)
		require.NoError(t, err)
		assert.Equal(t, 2, j.(Local).LocalRanks())
		assert.Equal(t, parentsProcessors(), j.(Local).LocalProcessors())
		require.NoError(t, j.Close())
	}
}

// What srun says of its step's hosts counts for the ranks of that step alone.
func TestRanksOfSlurmsHosts(t *testing.T) {
	for _, c := range []struct {
		tasks, node string
		want        int
	}{
		{"3,1,2", "0", 3}, {"3,1,2", "1", 1}, {"3,1,2", "2", 2}, {"6", "0", 6}, {"2(x2),1(x2)", "1", 2}, {"2(x2),1(x2)", "3", 1},
		{"3,1,2", "3", 0}, {"3,1,2", "-1", 0}, {"3,1,2", "", 0}, {"", "0", 0},
		{"3,1", "0", 0}, {"3,1,2,1", "0", 0}, // another step's
		{"3,,3", "0", 0}, {"0,6", "0", 0}, {"x,6", "1", 0}, {"6(x", "0", 0}, {"6(x0)", "0", 0}, {"-6,12", "1", 0}, {"3(x2", "0", 0},
		{"1(x99999999999)", "0", 0}, {"1(x4611686018427387904),1(x4611686018427387904)", "0", 0}, {"4611686018427387904(x4)", "0", 0},
	} {
		env := environ{"SLURM_STEP_TASKS_PER_NODE": c.tasks, "SLURM_NODEID": c.node}
		assert.Equal(t, c.want, slurmsRanksHere(env.lookup, 6), "%+v", c)
	}
}

func TestBadEnvironment(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer file.Close()
	regular := strconv.Itoa(int(file.Fd()))
	for _, tc := range []struct {
		env  environ
		want []string
	}{
		{environ{"PMI_FD": "x", "PMI_RANK": "0", "PMI_SIZE": "1"}, []string{"PMI_FD", `"x"`}},
		{environ{"PMI_FD": "3", "PMI_SIZE": "2"}, []string{"PMI_RANK", "not set"}},
		{environ{"PMI_FD": "3", "PMI_RANK": "0"}, []string{"PMI_SIZE", "not set"}},
		{environ{"PMI_FD": "3", "PMI_RANK": "2", "PMI_SIZE": "2"}, []string{"PMI_RANK", `"2"`, "0 to 1"}},
		{environ{"PMI_FD": "3", "PMI_RANK": "0", "PMI_SIZE": "99999999999"}, []string{"PMI_SIZE"}},
		{environ{"PMI_FD": "1000000", "PMI_RANK": "0", "PMI_SIZE": "1"}, []string{"PMI_FD=1000000", "bad file descriptor", "unset"}},
		{environ{"PMI_FD": regular, "PMI_RANK": "0", "PMI_SIZE": "1"}, []string{"PMI_FD=" + regular, "no socket"}},
		{environ{"PMI_PORT": "localhost:1"}, []string{"PMI_ID"}},
		{environ{"PMI_PORT": "nonsense", "PMI_ID": "0"}, []string{"PMI_PORT=nonsense"}},
	} {
		_, err := tc.env.join(t)
		for _, want := range tc.want {
			assert.ErrorContains(t, err, want, "%v", tc.env)
		}
	}
	_, err = file.WriteString("still open")
	assert.NoError(t, err, "a descriptor that is no socket stays as it was")
}

func TestForeignLaunchers(t *testing.T) {
	for _, tc := range []struct {
		env  environ
		want []string // nil: a world of one
	}{
		{environ{"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "1", "PMIX_RANK": "1"}, []string{"Open MPI's mpirun", "strand run -n 4 " + os.Args[0]}},
		{environ{"OMPI_COMM_WORLD_SIZE": "4", "SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, []string{"Open MPI's mpirun"}},
		{environ{"OMPI_COMM_WORLD_SIZE": "1", "PMIX_RANK": "0"}, nil},
		{environ{"PMIX_RANK": "0"}, []string{"PMIx", "strand run -n N " + os.Args[0], "for one process alone, of which PMIx tells no number, unset PMIX_RANK"}},
		{environ{"SLURM_PROCID": "0", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4"}, []string{"srun --mpi=pmi2 -n 4 " + os.Args[0] + `"`, "unset SLURM_STEP_ID"}},
		{environ{"SLURM_PROCID": "3", "SLURM_STEP_ID": "2", "SLURM_STEP_NUM_TASKS": "4", "SLURM_NTASKS": "8", "PMIX_RANK": "3"}, []string{"Slurm", "-n 4"}},
		{environ{"SLURM_PROCID": "0", "SLURM_STEP_ID": "2", "SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "8"}, nil},
		{environ{"SLURM_NTASKS": "8"}, nil}, // inside an allocation, not started by srun
		// A batch script has a rank, though it is not one of several, and so has all that it starts without srun.
		{environ{"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NTASKS": "4"}, nil},
		// The shell of salloc may be a step of its own, of one process.
		{environ{"SLURM_PROCID": "0", "SLURM_STEP_ID": "4294967290", "SLURM_NTASKS": "4"}, nil},
		{environ{"SLURM_PROCID": "0", "SLURM_STEP_ID": "4294967291", "SLURM_NTASKS": "4"}, nil},
		{environ{"PMI_RANK": "1", "PMI_SIZE": "2"}, []string{"neither PMI_FD nor PMI_PORT", "strand run -n 2"}},
	} {
		j, err := tc.env.join(t)
		if tc.want == nil {
			require.NoError(t, err, "%v", tc.env)
			assert.Equal(t, 1, j.Size())
			continue
		}
		for _, want := range tc.want {
			assert.ErrorContains(t, err, want)
		}
		assert.NotContains(t, fmt.Sprint(err), "%!")
	}
}
