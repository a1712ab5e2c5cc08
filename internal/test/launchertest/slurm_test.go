//go:build linux

package launchertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/transcript"
)

// A cluster is a Slurm of one node.
type cluster struct {
	dir     string
	daemons []*daemon
	died    chan string // names of daemons that have ended
	env     []string
}

// A daemon is one of the two programs that a cluster is made of.
type daemon struct {
	*netspace.Cmd
	ended chan struct{}
}

// theCluster is started by the first test that needs it, and serves all.
var theCluster struct {
	sync.Once
	*cluster
	err error
}

// slurm returns it, or says what is missing.
func slurm(t *testing.T) *cluster {
	t.Helper()
	need.Users(t)
	for _, program := range []string{"srun", "sbatch", "salloc", "sinfo"} {
		need.Program(t, program, "slurm-wlm")
	}
	controller, node := need.Program(t, "slurmctld", "slurm-wlm"), need.Program(t, "slurmd", "slurm-wlm")
	theCluster.Do(func() { theCluster.cluster, theCluster.err = startCluster(controller, node) })
	require.NoError(t, theCluster.err)
	return theCluster.cluster
}

// configuration says what a Slurm of one node needs that starts no process but its own, keeps
// nothing, trusts its users and listens on the loopback only.
const configuration = `ClusterName=strandtest
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
SrunPortRange=%[5]d-%[6]d
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
DebugFlags=NO_CONF_HASH
NodeName=strandtest NodeHostname=%[1]s NodeAddr=127.0.0.1 CPUs=16 State=UNKNOWN
PartitionName=all Nodes=strandtest Default=YES MaxTime=INFINITE State=UP
`

// startCluster starts one, and another one if somebody has taken its ports before it did.
func startCluster(controller, node string) (c *cluster, err error) {
	for range 3 {
		c, err = tryCluster(controller, node)
		if err == nil || c == nil {
			return c, err
		}
		c.end()
	}
	return nil, err
}

// tryCluster may return a cluster with an error: one that has to be ended.
func tryCluster(controller, node string) (*cluster, error) {
	dir, err := os.MkdirTemp("", "strandtest-slurm")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, died: make(chan string, 2)}
	for _, name := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return c, err
		}
	}
	host, err := os.Hostname()
	if err != nil {
		return c, err
	}
	host, _, _ = strings.Cut(host, ".")
	ports, err := need.Ports(2)
	if err != nil {
		return c, err
	}
	first, last := need.PortRange(2000) // srun gives up where something else writes to one of its ports
	conf := filepath.Join(dir, "slurm.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, configuration, host, dir, ports[0], ports[1], first, last), 0o644); err != nil {
		return c, err
	}
	c.env = slices.Clip(append(withoutSlurm(os.Environ()), "SLURM_CONF="+conf)) // tests that run at once append to it
	for _, args := range [][]string{{controller, "-D", "-i", "-f", conf}, {node, "-D", "-N", "strandtest", "-f", conf}} {
		if err := c.startDaemon(args); err != nil {
			return c, err
		}
	}
	return c, c.awaitNode()
}

// withoutSlurm drops what an allocation around this test has set.
func withoutSlurm(environ []string) (rest []string) {
	for _, entry := range environ {
		if !strings.HasPrefix(entry, "SLURM") && !strings.HasPrefix(entry, "PMI") {
			rest = append(rest, entry)
		}
	}
	return rest
}

// startDaemon starts one of the two, which writes what it does to a file. The kernel ends it if
// this process is killed.
func (c *cluster) startDaemon(args []string) error {
	log, err := os.Create(filepath.Join(c.dir, filepath.Base(args[0])+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := netspace.Bind(exec.Command(args[0], args[1:]...))
	cmd.Env, cmd.Stdout, cmd.Stderr = c.env, log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	d := &daemon{Cmd: cmd, ended: make(chan struct{})}
	go func() {
		_ = d.Wait()
		close(d.ended)
		c.died <- filepath.Base(args[0])
	}()
	c.daemons = append(c.daemons, d)
	return nil
}

// awaitNode returns when jobs can be run, or never will.
func (c *cluster) awaitNode() error {
	state, again, late := "", time.NewTicker(20*time.Millisecond), time.NewTimer(watchdog)
	defer again.Stop()
	defer late.Stop()
	for {
		select {
		case name := <-c.died:
			return fmt.Errorf("slurm: %s has ended: %s", name, c.logs())
		case <-late.C:
			return fmt.Errorf("slurm: the node is not ready, but %q: %s", state, c.logs())
		case <-again.C:
		}
		cmd := exec.Command("sinfo", "-h", "-o", "%T")
		cmd.Env = c.env
		out, _ := cmd.CombinedOutput()
		if state = strings.TrimSpace(string(out)); state == "idle" {
			return nil
		}
	}
}

// logs is what the daemons have said last.
func (c *cluster) logs() string {
	logs, _ := exec.Command("sh", "-c", "tail -n 10 "+c.dir+"/*.log").CombinedOutput()
	return string(logs)
}

// finish ends the cluster, if there is one, and keeps the status.
func finish(status int) int {
	if c := theCluster.cluster; c != nil {
		c.end()
	}
	return status
}

func (c *cluster) end() {
	for _, d := range c.daemons {
		_ = d.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(10*time.Second, func() { _ = d.Process.Kill() })
		<-d.ended
		late.Stop()
	}
	_ = os.RemoveAll(c.dir)
}

// batch runs a script without srun and returns what it says. It ends by telling its status
// through a pipe: sbatch -W looks for the end but every few seconds.
func (c *cluster) batch(t *testing.T, role, script string) (output string, status int) {
	t.Helper()
	dir := t.TempDir()
	file, out, end := filepath.Join(dir, "script"), filepath.Join(dir, "out"), filepath.Join(dir, "end")
	require.NoError(t, syscall.Mkfifo(end, 0o600))
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\necho $? >"+end+"\n"), 0o755))
	said, submitted := run(t, role, c.env, "sbatch", "-Q", "-n", "4", "-o", out, file)
	require.Zero(t, submitted, said)
	told, _ := run(t, role, nil, "cat", end)
	status, err := strconv.Atoi(strings.TrimSpace(told))
	require.NoError(t, err)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	return string(text), status
}

// lostStream is what srun says of a connection for its ranks' output that breaks before its first message, and is made again.
var lostStream = regexp.MustCompile(`(?m)^srun: error: (io_init_msg_read_from_fd: reading slurm_io_init_msg failed: .*|failed reading io init message)\n`)

// Nothing else that srun, or a rank, may say is taken for it.
func TestLostStream(t *testing.T) {
	kept := "srun: error: io_init_msg_unpack: io_init_msg_unpack failed: rc=-1\nsrun: error: n1: task 0: Exited with exit code 1\nsrun: error: radio: not initialised\nrank 0: failed reading io init message\n"
	said := "srun: error: io_init_msg_read_from_fd: reading slurm_io_init_msg failed: Connection reset by peer\nsrun: error: failed reading io init message\n"
	assert.Equal(t, kept, lostStream.ReplaceAllString(said+kept+said, ""))
}

// A program that srun has not started is a world of one, in a batch script as in the shell of
// salloc, though Slurm calls either a task of four.
func TestAllocationWithoutSrun(t *testing.T) {
	t.Parallel()
	c := slurm(t)
	out, status := c.batch(t, "exchange", `echo "task $SLURM_PROCID of $SLURM_NTASKS"; `+self(t)+` && srun --mpi=pmi2 `+self(t)+` | sort`)
	assert.Equal(t, 0, status, out)
	out = lostStream.ReplaceAllString(out, "")
	assert.Equal(t, "task 0 of 4\nrank 0 of 1 by none\n"+strings.Join(allRanks(4, "slurm"), "\n")+"\n", out)
	out, status = run(t, "exchange", c.env, "salloc", "-Q", "-n", "4", self(t))
	assert.Equal(t, 0, status, out)
	assert.Equal(t, "rank 0 of 1 by none\n", out)
}

// A rank of srun's learns how many there are on its host, within mpiexec too, whose own number is another one.
func TestSrunCompany(t *testing.T) {
	t.Parallel()
	c := slurm(t)
	out, status := run(t, "company", append(c.env, "MPI_LOCALNRANKS=2", "HYDI_CONTROL_FD=9"), "srun", "-Q", "--mpi=pmi2", "-n", "3", self(t))
	assert.Equal(t, 0, status, out)
	lines := strings.Split(strings.TrimSpace(lostStream.ReplaceAllString(out, "")), "\n")
	slices.Sort(lines)
	assert.Equal(t, []string{"rank 0: 3 ranks here", "rank 1: 3 ranks here", "rank 2: 3 ranks here"}, lines)
}

// Where the user has listed the host of each rank, PMI_process_mapping says that each is alone on its host.
func TestSrunCompanyByAList(t *testing.T) {
	t.Parallel()
	c := slurm(t)
	list := filepath.Join(t.TempDir(), "list")
	require.NoError(t, os.WriteFile(list, []byte("strandtest\nstrandtest\nstrandtest\n"), 0o644))
	out, status := run(t, "company", append(c.env, "SLURM_HOSTFILE="+list), "srun", "-Q", "--mpi=pmi2", "-n", "3", "-m", "arbitrary", self(t))
	assert.Equal(t, 0, status, out)
	lines := strings.Split(strings.TrimSpace(lostStream.ReplaceAllString(out, "")), "\n")
	slices.Sort(lines)
	assert.Equal(t, []string{"rank 0: 3 ranks here", "rank 1: 3 ranks here", "rank 2: 3 ranks here"}, lines)
}

// Within an allocation mpiexec begins its helpers by srun. The ranks are Hydra's all the same, and say so.
func TestMpiexecInAllocation(t *testing.T) {
	t.Parallel()
	c, mpiexec := slurm(t), need.Program(t, "mpiexec.hydra", "mpich")
	out, status := run(t, "exchange", c.env, "salloc", "-Q", "-n", "4", mpiexec, "-n", "3", self(t))
	assert.Equal(t, 0, status, out)
	lines := strings.Split(strings.TrimSpace(lostStream.ReplaceAllString(out, "")), "\n")
	slices.Sort(lines)
	assert.Equal(t, allRanks(3, "hydra"), lines)
}

// Srun is a remote shell too, if it is told not to wait for the ends of lines (-u): README says so.
func TestSrunAsRemoteShell(t *testing.T) {
	t.Parallel()
	c := slurm(t)
	shell := slices.Concat([]string{"env"}, c.env, strings.Fields("srun -Q -u --mpi=none -N1 -n1 -w {host} sh -c {command}"))
	host := remote.Host{Name: "strandtest", Shell: shell, Program: self(t), Patience: watchdog}
	out := transcript.New()
	require.NoError(t, job.Run(t.Context(), job.Config{
		Ranks: 3, Program: self(t), Build: strandsBuild, Elsewhere: []job.Share{{Host: host, Ranks: []int{0, 1, 2}}},
		Environ: []string{roleEnv + "=exchange"}, Timeout: watchdog, Stdout: out, Stderr: out, Dir: t.TempDir(),
	}), "%s", out)
	lines := strings.Split(strings.TrimSpace(lostStream.ReplaceAllString(out.String(), "")), "\n")
	slices.Sort(lines)
	assert.Equal(t, allRanks(3, "strand run"), lines)
}

// One that srun has started, but not told how to find the others, says how it would be told.
func TestSrunWithoutPMI(t *testing.T) {
	t.Parallel()
	c := slurm(t)
	out, status := run(t, "exchange", c.env, "srun", "-Q", "--mpi=none", "-n", "3", self(t))
	assert.Equal(t, 1, status)
	assert.Equal(t, 3, strings.Count(out, `use "srun --mpi=pmi2 -n 3 `), out)
	assert.NotContains(t, out, "rank 0")
	out, status = run(t, "exchange", c.env, "srun", "-Q", "--mpi=none", "-n", "1", self(t))
	assert.Equal(t, 0, status, out)
	assert.Equal(t, "rank 0 of 1 by none\n", out)
}

// A rank that exits without leaving its world is told of once, before all else that ranks say of
// it, and without flags that srun does not have.
func TestSlurmRankLeaves(t *testing.T) {
	t.Parallel()
	c := slurm(t)
	for range need.Times(1, 50) {
		out, status := run(t, "leave 7", c.env, "srun", "-Q", "--mpi=pmi2", "-n", "4", self(t))
		requireHighest(t, out, status)
		assert.Contains(t, out, "task 2: Exited with exit code 7")
		assert.Equal(t, 1, strings.Count(out, "strand: rank 2 has gone, and rank 0 on "), out)
		assert.NotContains(t, out, "aborts the job")
		assert.NotRegexp(t, ` -p \w|--btl`, out)
		first := out[:strings.Index(out, "strand: rank 2 has gone")]
		assert.NotContains(t, first, "program:", "nobody else has said it before")
	}
}

// The status of a job is the highest of its tasks', those that Slurm kills among them. So it is 137 where a rank
// aborts the job, and 143 where one fails and srun was told to end the others for it. Which rank has failed, and how,
// is in srun's words.
func TestSlurmStatus(t *testing.T) {
	t.Parallel()
	c := slurm(t)
	for _, k := range []struct {
		going  string
		args   []string
		status int
		says   string
	}{
		{"leave 7", []string{"-K"}, 143, "task 2: Exited with exit code 7"},
		{"die", []string{"-K"}, 143, "task 2: Killed"},
		{"abort 7", nil, 137, "rank 2 on "},
		{"give up", nil, 137, "rank 2 on "},
	} {
		for range need.Times(1, 50) {
			out, status := run(t, k.going, c.env, "srun", append(k.args, "-Q", "--mpi=pmi2", "-n", "4", self(t))...)
			assert.Equal(t, k.status, status, "%s: %s", k.going, out)
			requireHighest(t, out, status)
			assert.Contains(t, out, k.says, k.going)
		}
	}
}

// requireHighest expects that the status of a job is the highest of those that srun tells of.
func requireHighest(t *testing.T, out string, status int) {
	t.Helper()
	highest := 0
	for _, m := range regexp.MustCompile(`srun: error: .* tasks? .*: (Killed|Terminated|Exited with exit code (\d+))`).FindAllStringSubmatch(out, -1) {
		switch m[1] {
		case "Killed":
			highest = max(highest, 128+int(syscall.SIGKILL))
		case "Terminated":
			highest = max(highest, 128+int(syscall.SIGTERM))
		default:
			n, err := strconv.Atoi(m[2])
			require.NoError(t, err)
			highest = max(highest, n)
		}
	}
	require.Equal(t, highest, status, out)
}
