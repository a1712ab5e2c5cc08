package strandcmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/test/need"
)

// writeNet writes a description of a network and returns its path. Everybody may read it.
func writeNet(t *testing.T, text string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "net") // t.TempDir is below a folder that is closed to others
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	file := filepath.Join(dir, "net.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

// netUpProcess is strand net up, which finds itself as $STRAND.
func netUpProcess(t *testing.T, text string, command ...string) *exec.Cmd {
	t.Helper()
	cmd := strandProcess(t, append([]string{"net", "up", writeNet(t, text)}, command...)...)
	cmd.Env = append(cmd.Env, "STRAND="+cmd.Path)
	return cmd
}

// inNet runs a script with a network and returns what it says.
func inNet(t *testing.T, text, script string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := netUpProcess(t, text, "--", "sh", "-c", script)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the status tells
	need.That(t, !strings.Contains(errs.String(), "no networks of its own"), "needs network namespaces: %s", &errs)
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

const threeHosts = "hosts: [a, b, far-away]\nbetween:\n  - {hosts: [a, far-away], delay: 30ms}\n"

func TestNetHosts(t *testing.T) {
	out, errs, status := inNet(t, threeHosts, `
		for h in a b far-away; do $STRAND net exec $h -- sh -c 'uname -n; ls /sys/class/net'; done
		echo $ADDR_a $ADDR_far_away
		exit 7`)
	assert.Equal(t, 7, status, errs)
	assert.Equal(t, "a eth0 lo b eth0 lo far-away eth0 lo 10.66.0.1 10.66.0.3", strings.Join(strings.Fields(out), " "))
	assert.Contains(t, errs, "strand net up: far-away is 10.66.0.3\n")
	assert.Contains(t, errs, "0 spoilt by this machine\n")
}

// Ranks on hosts of their own reach each other over the ways that are described.
func TestNetRuns(t *testing.T) {
	out, errs, status := inNet(t, threeHosts, `$STRAND run --net -n 3 --tag-output uname -n | sort; $STRAND run --net -n 2 $STRAND bench pingpong --sizes 8 --iters 3`)
	require.Equal(t, 0, status, errs)
	assert.Contains(t, out, "[0] a\n[1] b\n[2] far-away\n")
	assert.Contains(t, out, "\n8 ")
}

// The command has the terminal while it lasts, and the caller has it after that. A process that
// reads without having it is stopped.
func TestNetTerminal(t *testing.T) {
	inNet(t, "hosts: 1", "true") // or skip
	up := netUpProcess(t, "hosts: 1", "sh", "-c", "read line; echo first $line")
	outer := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `"$@"; read line; echo second $line`, "sh"}, up.Args...)...)
	outer.Env = up.Env
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	need.That(t, err == nil, "needs /dev/ptmx: %v", err)
	defer near.Close()
	require.NoError(t, unix.IoctlSetPointerInt(int(near.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(near.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	far, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	outer.Stdin, outer.Stdout = far, far
	outer.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	_, err = near.WriteString("a\nb\n")
	require.NoError(t, err)
	watchdog := time.AfterFunc(time.Minute, func() { _ = near.Close() }) // so all that reads there ends
	defer watchdog.Stop()
	require.NoError(t, outer.Start())
	require.NoError(t, far.Close())
	out, _ := io.ReadAll(near) // it ends with an error when nobody has the other end
	require.NoError(t, outer.Wait(), "%s", out)
	assert.Contains(t, string(out), "first a\r\n")
	assert.Contains(t, string(out), "second b\r\n")
}

// A process that loses its parent is waited for, and a command that the terminal stops goes on.
func TestNetWaits(t *testing.T) {
	orphan := filepath.Join(t.TempDir(), "netorphan") // the file's name is the process's name
	sleep, err := exec.LookPath("sleep")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(sleep, orphan))
	out, errs, status := inNet(t, "hosts: 1", `
		for i in 1 2 3 4 5; do sh -c '`+orphan+` 0.01 & exec true'; done
		n=0
		while cat /proc/[0-9]*/status 2>/dev/null | grep -q '^Name:.netorphan'; do
			sleep 0.05; n=$((n + 1)); [ $n -lt 600 ] || { echo zombies; break; }
		done
		kill -TSTP $$
		echo on`)
	require.Equal(t, 0, status, errs)
	assert.Equal(t, "on\n", out)
}

// Ctrl-C while a network is built, which may take its time, ends it before the command has begun.
func TestNetInterruptedEarly(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interruptError(syscall.SIGINT))
	none := filepath.Join(t.TempDir(), "none") // which can not be begun
	assert.Equal(t, interruptError(syscall.SIGINT), runWithNet(ctx, netDescription{}, []string{none}, false))
}

func TestNetDown(t *testing.T) {
	_, errs, status := inNet(t, "hosts: 2", `$STRAND net down; sleep 60`)
	assert.Equal(t, 128+int(syscall.SIGTERM), status, errs)
}

func TestNetMistakes(t *testing.T) {
	file := writeNet(t, "hosts: [a, b]")
	bad := writeNet(t, "hosts: [a, b]\nlos: 1%")
	twice := writeNet(t, "hosts: [a, a-b]\nnetworks: {b: , c: }")
	for line, want := range map[string]string{
		"net up":                    "want the file that describes the network; see strand net up --help",
		"net up /no/such/file":      "open /no/such/file: no such file",
		"net up " + bad:             `line 2: there is no "los"; did you mean loss?`,
		"net show " + bad + " more": "want one file",
		"net up " + twice + " true": "the addresses of a-b and of a on b would both be in ADDR_a_b; give one of them another name",
		"net exec a":                "want a host and a command",
		"net exec a true":           "there is no network here: strand net up topology.yaml starts a shell that has one",
		"net down":                  "there is no network here",
		"net dwon":                  "did you mean down?",
		"run --net -n 2 true":       "there is no network here",
		"net show --json=x " + file: "--json x: want true or false",
	} {
		stdout, stderr, status := command(line)
		assert.NotZero(t, status, line)
		assert.Contains(t, stdout+stderr, want, line)
	}
	for script, want := range map[string]string{
		"$STRAND net exec c true":                  `there is no host "c": want one of a, b`,
		"$STRAND run --net -n 3 true":              "--net: 3 ranks, and the network has 2 hosts",
		"$STRAND net up net.yaml":                  "open net.yaml",
		"$STRAND net up " + file:                   "there is a network already",
		"$STRAND net exec a no-such-program":       `strand: can not start a program: host a: exec: "no-such-program"`,
		"STRAND_LAUNCH_NET=x $STRAND net exec a b": `STRAND_LAUNCH_NET="x": strand net up sets this`,
	} {
		_, errs, status := inNet(t, "hosts: [a, b]", script)
		assert.NotZero(t, status, script)
		assert.Contains(t, errs, want, script)
	}
}

func TestNetShow(t *testing.T) {
	out, errs, status := command("net show " + writeNet(t, threeHosts+"rate: 1gbit\nloss: 1%/4\neach: {b: {queue: 256K}}\n"))
	require.Equal(t, 0, status, errs)
	assert.Equal(t, `host      rate   queue
a         1gbit  1000 frames
b         1gbit  262144 bytes
far-away  1gbit  1000 frames

way
all others      delay 0s, loss 1%/4
a and far-away  delay 30ms, loss 1%/4

MTU 1500, seed 0
`, out)
	out, errs, status = command("net show --json " + writeNet(t, "hosts: 2\ndelay: 1ms"))
	require.Equal(t, 0, status, errs)
	assert.Contains(t, out, `"to": "host1"`)
	assert.NotContains(t, out, "frames", "nothing waits")
	out, errs, status = command("net show --json " + writeNet(t, "hosts: 2\nrate: 1gbit"))
	require.Equal(t, 0, status, errs)
	assert.Contains(t, out, `"frames": 1000`, "as the table has it")
}

const twoNetworks = `hosts: [a, b, c]
networks:
  fast: {rate: 1gbit, hosts: [a, b]}
  slow-one:
    rate: 100mbit
    down: [{at: 0s, for: 24h}]
`

// Hosts with several networks: an interface and an address for each, and a word of each at the
// end.
func TestNetSeveralNetworks(t *testing.T) {
	out, errs, status := inNet(t, twoNetworks, `
		for h in a c; do $STRAND net exec $h sh -c 'ls /sys/class/net'; done
		echo $ADDR_a $ADDR_a_fast $ADDR_a_slow_one $ADDR_c
		$STRAND run --net -n 2 -p btl=tcp,self $STRAND bench pingpong --sizes 8 --iters 3`)
	require.Equal(t, 0, status, errs)
	words := strings.Fields(out)
	assert.Equal(t, "eth0 eth1 lo eth1 lo 10.66.0.1 10.66.0.1 10.67.0.1 10.67.0.3", strings.Join(words[:9], " "))
	assert.Contains(t, out, "\n8 ")
	assert.Contains(t, errs, "strand net up: a is 10.66.0.1 on fast, 10.67.0.1 on slow-one\n")
	assert.Contains(t, errs, "strand net up: c is 10.67.0.3 on slow-one\n")
	assert.Regexp(t, `strand net up: fast: [1-9]\d* frames sent: 0 lost, 0 found a queue full, 0 spoilt by this machine\n`, errs)
	assert.Regexp(t, `strand net up: slow-one: \d+ frames sent: 0 lost, \d+ while it was down \(0s\+\S+ of \S+\), 0 found`, errs)

	out, errs, status = command("net show " + writeNet(t, twoNetworks))
	require.Equal(t, 0, status, errs)
	assert.Equal(t, `network fast

host  rate   queue
a     1gbit  1000 frames
b     1gbit  1000 frames

way
any to any  delay 0s

network slow-one

host  rate     queue
a     100mbit  1000 frames
b     100mbit  1000 frames
c     100mbit  1000 frames

way
any to any  delay 0s

down at 0s for 24h0m0s

MTU 1500, seed 0
`, trimLines(out))
	out, errs, status = command("net show --json " + writeNet(t, twoNetworks))
	require.Equal(t, 0, status, errs)
	assert.Contains(t, out, `"name": "slow-one"`)
	assert.Contains(t, out, `"outages"`)
}

// trimLines takes the blanks from the ends of lines.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// A user who is not the superuser has networks too, and a signal leaves nothing of them behind.
func TestNetInterrupted(t *testing.T) {
	need.Users(t)
	cmd := netUpProcess(t, "hosts: [a, b]", "sh", "-c", "(trap '' INT TERM HUP; setsid sleep 300 &); echo up; sleep 300")
	cmd.Env = append(cmd.Env, asNobody+"=unlimited")
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	cmd.Stdout = write
	var errs bytes.Buffer
	cmd.Stderr = &errs
	require.NoError(t, cmd.Start())
	write.Close()
	require.NoError(t, read.SetReadDeadline(time.Now().Add(time.Minute)))
	if _, err = read.Read(make([]byte, 1)); err != nil {
		_ = cmd.Wait()
		need.That(t, !strings.Contains(errs.String(), "no networks of its own"), "needs user namespaces: %s", &errs)
		require.NoError(t, err, errs.String())
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	assert.Equal(t, 128+int(syscall.SIGINT), cmd.ProcessState.ExitCode())
	_, err = io.Copy(io.Discard, read)
	require.NoError(t, err, "a process is left, and with it its namespaces")
}
