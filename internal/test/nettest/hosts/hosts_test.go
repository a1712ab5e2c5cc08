//go:build linux

package hosts

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
	"github.com/strandmp/strand/internal/test/transcript"
)

// members is how many hosts ranks run on. One more is the launcher's, which they reach each other
// through.
var members = need.Daily(4, 8)

// silence is how long the launcher waits for signs of life of a host; ranks there wait three times
// as long.
const silence = 2 * time.Second

// A site is hosts with sshd.
type site struct {
	launcher  *testnet.Host
	hosts     []*testnet.Host
	links     []*testnet.Link
	names     []string // addresses
	shell     string
	self      string
	temporary string // the folder for temporary files on all of them
}

func build(t *testing.T) *site {
	t.Helper()
	need.Users(t)
	daemon := need.Program(t, "sshd", "openssh-server")
	client := need.Program(t, "ssh", "openssh-client")
	dir := t.TempDir()
	key, own := filepath.Join(dir, "key"), filepath.Join(dir, "own")
	for _, file := range []string{key, own} {
		out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	require.NoError(t, os.MkdirAll("/run/sshd", 0o755)) // the daemon's
	self, err := os.Executable()
	require.NoError(t, err)
	n := testnet.New(t)
	// Without this user's .bashrc, which shells that sshd starts read.
	temporary := t.TempDir()
	environ := "SetEnv=HOME=" + t.TempDir() + " TMPDIR=" + temporary
	s := &site{launcher: n.Host("launcher"), self: self, temporary: temporary, shell: client + " -F none -i " + key + " -l root -o BatchMode=yes -o StrictHostKeyChecking=no" +
		" -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o IdentitiesOnly=yes -o ConnectTimeout=3" +
		" -o KexAlgorithms=curve25519-sha256"} // the first choice takes ten times as long
	s.launcher.Forward()
	for i := range members {
		h := n.Host(fmt.Sprintf("member%d", i))
		l := n.Link(s.launcher, h, testnet.Subnet(fmt.Sprintf("10.9.%d.0/24", i)))
		h.Route("10.9.0.0/16", l.A.Addr(0))
		s.hosts, s.links, s.names = append(s.hosts, h), append(s.links, l), append(s.names, l.B.Addr(0).String())
		cmd := h.Command(daemon, "-D", "-f", "/dev/null", "-h", own, "-o", "AuthorizedKeysFile="+key+".pub", "-o", "StrictModes=no",
			"-o", "UsePAM=no", "-o", "PidFile=none", "-o", "PasswordAuthentication=no", "-o", environ)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait()
		})
	}
	for _, name := range s.names {
		require.Eventually(t, func() bool {
			return s.launcher.Do(func() error {
				c, err := net.Dial("tcp4", net.JoinHostPort(name, "22"))
				if err == nil {
					_ = c.Close()
				}
				return err
			}) == nil
		}, time.Minute, 10*time.Millisecond, "sshd does not listen")
	}
	return s
}

// run starts a job with a rank on each host.
func (s *site) run(t *testing.T, program ...string) (*netspace.Cmd, *transcript.Output) {
	t.Helper()
	return s.runEach(t, 1, "tcp,self", program...)
}

// runEach starts a job with so many ranks on each host.
func (s *site) runEach(t *testing.T, ranks int, btl string, program ...string) (*netspace.Cmd, *transcript.Output) {
	t.Helper()
	each := fmt.Sprintf(":%d", ranks)
	args := []string{"run", "--btl", btl, "--timeout", "2m", "--host-timeout", silence.String(), "--wdir", "/", "--rsh", s.shell,
		"--host", strings.Join(s.names, each+",") + each}
	cmd := s.launcher.Command(s.self, append(args, program...)...)
	out := transcript.New()
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	return cmd, out
}

func TestPrograms(t *testing.T) {
	s := build(t)
	wordfreq := filepath.Join(t.TempDir(), "wordfreq")
	made, err := exec.CommandContext(t.Context(), "go", "build", "-o", wordfreq, "github.com/strandmp/strand/examples/wordfreq").CombinedOutput()
	require.NoError(t, err, "%s", made)
	texts := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(texts, "text.txt"), []byte(strings.Repeat("words ", 20_000)), 0o644))
	for want, program := range map[string][]string{
		fmt.Sprintf("round %d", members): {s.self, "ring"},
		"verified: true":                 {s.self, "cg"},
		"verified: both counts agree on": {wordfreq, "-dir", texts},
	} {
		cmd, out := s.run(t, program...)
		require.NoError(t, cmd.Wait(), "%s", out)
		assert.Contains(t, out.String(), want)
		s.awaitEnd(t)
	}
}

// Where several ranks share each of several hosts, collective calls go by hosts.
func TestRanksShareHosts(t *testing.T) {
	s := build(t)
	cmd, out := s.runEach(t, 2, "sm,tcp,self", s.self, "cg")
	require.NoError(t, cmd.Wait(), "%s", out)
	assert.Contains(t, out.String(), "verified: true")
	s.awaitEnd(t)
}

func TestEndings(t *testing.T) {
	s := build(t)
	marks := map[string]struct {
		do     func(t *testing.T, launcher int)
		status int // -1: a signal
		words  string
	}{
		"a rank is killed": {func(t *testing.T, _ int) { s.killOne(t, s.hosts[0], "rounds") }, 128 + 9,
			fmt.Sprintf(`rank 0 on host 10\.9\.0\.2 \(pid \d+\) was killed by signal 9 \(SIGKILL\); the %d other ranks still running were ended`, members-1)},
		"ssh is killed": {func(t *testing.T, _ int) { s.killOne(t, s.launcher, "-F", "none", s.names[3]) }, 1,
			`rank 3 on host 10\.9\.3\.2 \(pid \d+\) is lost: the connection to host 10\.9\.3\.2 is lost: the remote shell has ended: signal: killed`},
		"the launcher is killed": {func(t *testing.T, launcher int) { require.NoError(t, syscall.Kill(launcher, syscall.SIGKILL)) }, -1, ""},
		"a host is cut off": {func(*testing.T, int) { s.links[2].A.Down() }, 1,
			`rank 2 on host 10\.9\.2\.2 \(pid \d+\) is lost: the connection to host 10\.9\.2\.2 is lost: nothing was heard from there`},
	}
	for name, end := range marks {
		t.Run(name, func(t *testing.T) {
			longest := time.Duration(0)
			trials := need.Times(1, 50)
			for range trials {
				cmd, out := s.run(t, "/bin/sh", "-c", `sleep 600 & exec "$0" rounds`, s.self)
				out.Await(t, "goes on", members)
				begin := time.Now()
				end.do(t, cmd.Process.Pid)
				_ = cmd.Wait()
				assert.Equal(t, end.status, cmd.ProcessState.ExitCode(), "%s", out)
				assert.Regexp(t, end.words, out.String())
				s.awaitEnd(t)
				longest = max(longest, time.Since(begin))
				s.links[2].A.Up()
			}
			t.Logf("%d trials, the longest time to the end everywhere: %v", trials, longest)
		})
	}
}

// awaitEnd returns when nothing of a job is left on any host. A session of sshd's whose host is cut
// off is not the job's: it ends when the kernel gives up its connection.
func (s *site) awaitEnd(t *testing.T) {
	t.Helper()
	left := ""
	require.Eventually(t, func() bool {
		left = ""
		for _, h := range append(slices.Clone(s.hosts), s.launcher) {
			for pid, line := range commands(t, h) {
				if !strings.HasPrefix(line[0], "sshd") && !strings.HasSuffix(line[0], "/sshd") {
					left += fmt.Sprintf("%s: %d %q\n", h.Name(), pid, line)
				}
			}
		}
		return left == ""
	}, time.Minute, 5*time.Millisecond, "processes are left")
}

// killOne kills the process of a host whose command line has the words.
func (s *site) killOne(t *testing.T, h *testnet.Host, words ...string) {
	t.Helper()
	for pid, line := range commands(t, h) {
		if line[0] != "/bin/sh" && !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(line, w) }) && !slices.Contains(line, "run") {
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			return
		}
	}
	t.Fatalf("nothing on host %s has %q", h.Name(), words)
}

// commands returns the command lines of the processes on a host.
func commands(t *testing.T, h *testnet.Host) map[int][]string {
	t.Helper()
	network, err := os.Stat(h.Namespace())
	require.NoError(t, err)
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	found := map[int][]string{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		there, err := os.Stat(filepath.Join("/proc", e.Name(), "ns/net"))
		if err != nil || !os.SameFile(there, network) {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && len(text) > 0 { // else it has ended
			found[pid] = strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
		}
	}
	return found
}
