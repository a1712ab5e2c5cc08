package sshd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/transcript"
)

const build = "test build"

// A process of this program is strand on another host, or a rank that its argument names.
func TestMain(m *testing.M) {
	switch {
	case slices.Equal(os.Args[1:], remote.Arguments):
		if err := remote.Serve(context.Background(), os.Stdin, os.Stdout, remote.Introduction{Build: build}, remote.Call{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case len(os.Args) == 2 && os.Args[1] == "ring":
		if err := strand.Run(context.Background(), ring); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(m.Run())
	}
}

// ring sends a number round.
func ring(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	next, last := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
	got := make([]byte, 8)
	if w.Rank() == 0 {
		if err := c.Send(ctx, []byte("once"), next, 1); err != nil {
			return err
		}
	}
	s, err := c.Recv(ctx, got, last, 1)
	if err == nil && w.Rank() != 0 {
		err = c.Send(ctx, got[:s.Count], next, 1)
	}
	if err == nil && w.Rank() == 0 {
		fmt.Printf("%s round %d\n", got[:s.Count], w.Size())
	}
	return err
}

// daemon starts an sshd that is many hosts: addresses of the loopback network. It returns the
// words that get to them.
func daemon(t *testing.T, hosts []string) (shell []string) {
	t.Helper()
	program, client := need.Program(t, "sshd", "openssh-server"), need.Program(t, "ssh", "openssh-client")
	dir := t.TempDir()
	key, host := filepath.Join(dir, "key"), filepath.Join(dir, "host")
	for _, name := range []string{key, host} {
		out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	if os.Geteuid() == 0 {
		require.NoError(t, os.MkdirAll("/run/sshd", 0o755)) // the daemon's, when root runs it
	}
	ports, err := need.Ports(1)
	require.NoError(t, err)
	port := strconv.Itoa(ports[0])
	// As on a fresh machine: a shell that sshd starts reads the user's .bashrc, which may take longer than all else.
	home := "SetEnv=HOME=" + t.TempDir()
	args := []string{"-D", "-e", "-f", "/dev/null", "-h", host, "-p", port, "-o", "AuthorizedKeysFile=" + key + ".pub", "-o", "StrictModes=no",
		"-o", "UsePAM=no", "-o", "PidFile=none", "-o", "PasswordAuthentication=no", "-o", home}
	for some := range slices.Chunk(hosts, 16) { // one listens at no more addresses
		own := slices.Clip(args)
		for _, name := range some {
			own = append(own, "-o", "ListenAddress="+name)
		}
		cmd := exec.Command(program, own...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait()
		})
	}
	for _, name := range hosts {
		require.Eventually(t, func() bool {
			c, err := net.Dial("tcp", net.JoinHostPort(name, port))
			if err == nil {
				_ = c.Close()
			}
			return err == nil
		}, time.Minute, 10*time.Millisecond, "sshd does not listen")
	}
	me, err := user.Current()
	require.NoError(t, err)
	return []string{client, "-F", "none", "-p", port, "-i", key, "-l", me.Username, "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no",
		"-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "IdentitiesOnly=yes"}
}

func addresses(n int) []string {
	var all []string
	for i := range n {
		all = append(all, "127.0.9."+strconv.Itoa(i+1))
	}
	return all
}

// spread is a job with ranks on each host.
func spread(t *testing.T, shell, hosts []string, each int, program string, args ...string) (job.Config, *transcript.Output) {
	self, err := os.Executable()
	require.NoError(t, err)
	out := transcript.New()
	c := job.Config{
		Ranks: each * len(hosts), Program: program, Args: args, Build: build, Timeout: 2 * time.Minute, Stdout: out, Stderr: out,
		Dir: t.TempDir(), Environ: []string{"STRAND_BTL=tcp,self", "STRAND_BTL_TCP_IF_INCLUDE=lo"},
	}
	for i, name := range hosts {
		share := job.Share{Host: remote.Host{Name: name, Shell: shell, Program: self, Patience: time.Minute}}
		for n := range each {
			share.Ranks = append(share.Ranks, i*each+n)
		}
		c.Elsewhere = append(c.Elsewhere, share)
	}
	return c, out
}

func TestRing(t *testing.T) {
	leak.Check(t)
	hosts := addresses(need.Times(4, 64))
	shell := daemon(t, hosts)
	self, err := os.Executable()
	require.NoError(t, err)
	c, out := spread(t, shell, hosts, 2, self, "ring")
	begin := time.Now()
	require.NoError(t, job.Run(t.Context(), c), "%s", out)
	assert.Equal(t, fmt.Sprintf("once round %d\n", c.Ranks), out.String())
	t.Logf("%d hosts, %d ranks: %v", len(hosts), c.Ranks, time.Since(begin))
	if need.Soaking() {
		t.Logf("of which logins alone take %v", logins(t, shell, hosts))
	}
}

// logins is how long ssh and sshd take without strand: to run nothing on each host, as many at a time as strand run
// begins.
func logins(t *testing.T, shell, hosts []string) time.Duration {
	t.Helper()
	begin := time.Now()
	var all sync.WaitGroup
	names := make(chan string)
	for range 10 {
		all.Go(func() {
			for name := range names {
				assert.NoError(t, exec.CommandContext(t.Context(), shell[0], append(slices.Clone(shell[1:]), name, "true")...).Run())
			}
		})
	}
	for _, name := range hosts {
		names <- name
	}
	close(names)
	all.Wait()
	return time.Since(begin)
}

// Ranks say who they are in a line that nothing else has, and do nothing, for a time that no other
// process of this machine sleeps.
var (
	idle    = fmt.Sprintf("600.%d", os.Getpid())
	waiting = `echo "here $PMI_RANK"; exec sleep ` + idle
)

func TestEndings(t *testing.T) {
	leak.Check(t)
	hosts := addresses(2)
	shell := daemon(t, hosts)
	self, err := os.Executable() // is where no other run of this test is
	require.NoError(t, err)
	for name, end := range map[string]struct {
		do   func(t *testing.T)
		want string
	}{
		"ssh is killed": {func(t *testing.T) { killOne(t, shell[0]+"\x00", "\x00"+hosts[1]+"\x00") }, "on host 127.0.9.2 .* is lost: .*the remote shell has ended: signal: killed"},
		"strand there is killed": {func(t *testing.T) { killOne(t, remote.Arguments[0], self) },
			"on host 127.0.9.[12] .* is lost: .*the remote shell has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			c, out := spread(t, shell, hosts, 2, "sh", "-c", waiting)
			done := make(chan error, 1)
			go func() { done <- job.Run(t.Context(), c) }()
			out.Await(t, "here", 4)
			end.do(t)
			err := <-done
			assert.Regexp(t, end.want, err)
			lost, is := errors.AsType[*job.RankError](err)
			require.True(t, is, "%v", err)
			assert.Equal(t, job.Lost, lost.How)
			require.Eventually(t, func() bool { return len(processes(t, "sleep", idle)) == 0 }, time.Minute, 10*time.Millisecond, "ranks are left")
		})
	}
}

// killOne kills a process whose command line has both words.
func killOne(t *testing.T, words ...string) {
	t.Helper()
	found := processes(t, words...)
	require.NotEmpty(t, found)
	require.NoError(t, syscall.Kill(found[0], syscall.SIGKILL))
}

// processes returns those of this user whose command line has all the words.
func processes(t *testing.T, words ...string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(string(text), w) }) {
			continue
		}
		found = append(found, pid)
	}
	return found
}

func TestNoWay(t *testing.T) {
	leak.Check(t)
	hosts := addresses(1)
	shell := daemon(t, hosts)
	for want, change := range map[string]func(*job.Config){
		"host 127.0.9.1: .*Permission denied": func(c *job.Config) {
			words := slices.Clone(shell)
			words[slices.Index(words, "-i")+1] = "/nowhere/key"
			c.Elsewhere[0].Host.Shell = words
		},
		"host 127.0.9.99: .*Connection refused": func(c *job.Config) { c.Elsewhere[0].Host.Name = "127.0.9.99" },
		"host 127.0.9.1: .*exit status 127":     func(c *job.Config) { c.Elsewhere[0].Host.Program = "/nowhere/strand" },
	} {
		c, _ := spread(t, shell, hosts, 1, "true")
		change(&c)
		assert.Regexp(t, "(?s)"+want, job.Run(t.Context(), c))
	}
}

// Users have ssh share connections (ControlMaster auto). The end of one job cuts off no other that has come later.
func TestJobsShareNoConnection(t *testing.T) {
	leak.Check(t)
	hosts := addresses(1)
	shell := daemon(t, hosts)
	config := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(config, []byte("ControlMaster auto\nControlPath "+config+"-%h\n"), 0o600))
	shell[slices.Index(shell, "-F")+1] = config
	shell = append(shell, strings.Fields(remote.DefaultShell)[1:]...)
	var ends []*os.File
	var jobs []chan error
	for range 2 {
		c, out := spread(t, shell, hosts, 1, "sh", "-c", "echo here; read x; true")
		input, end, err := os.Pipe()
		require.NoError(t, err)
		defer input.Close()
		c.Stdin = input
		done := make(chan error, 1)
		go func() { done <- job.Run(t.Context(), c) }()
		out.Await(t, "here", 1)
		ends, jobs = append(ends, end), append(jobs, done)
	}
	for i, done := range jobs {
		require.NoError(t, ends[i].Close())
		assert.NoError(t, <-done)
	}
}

// What users have their ssh do for them when they log in is nothing for a job: a terminal changes bytes, and a port that is
// forwarded can be listened at by one login only.
func TestConfigurationForLogins(t *testing.T) {
	leak.Check(t)
	hosts := addresses(2)
	shell := daemon(t, hosts)
	ports, err := need.Ports(1)
	require.NoError(t, err)
	config := filepath.Join(t.TempDir(), "config")
	forwarded := fmt.Sprintf("LocalForward 127.0.0.1:%d 127.0.0.1:9\nExitOnForwardFailure yes\n", ports[0])
	for _, text := range []string{"RequestTTY force\n", forwarded} {
		require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
		words := slices.Clone(shell)
		words[slices.Index(words, "-F")+1] = config
		c, _ := spread(t, append(words, strings.Fields(remote.DefaultShell)[1:]...), hosts, 1, "true")
		assert.NoError(t, job.Run(t.Context(), c), text)
	}
}
