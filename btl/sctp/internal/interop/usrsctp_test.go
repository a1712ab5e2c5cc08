package interop

import (
	"bufio"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// usrsctp is the stack of FreeBSD in user space, as Debian has it. The program is testdata/usrsctp.c.
type usrsctp struct{ program string }

func (*usrsctp) name() string { return "usrsctp 0.9.5" }
func (*usrsctp) lacks() lack {
	return lack{"zero checksum": "n/a"}
}

func (u *usrsctp) need(t testing.TB) {
	gcc := need.Program(t, "gcc", "gcc")
	probe := exec.Command(gcc, "-E", "-include", "usrsctp.h", "-x", "c", "/dev/null", "-o", "/dev/null")
	need.That(t, probe.Run() == nil, "the header usrsctp.h: apt-get install libusrsctp-dev")
	program := filepath.Join(t.TempDir(), "usrsctp")
	out, err := exec.Command(gcc, "-O2", "-o", program, "testdata/usrsctp.c", "-lusrsctp", "-lpthread").CombinedOutput()
	require.NoError(t, err, "%s", out)
	u.program = program
}

// free is a UDP port that nobody has, for a program that has to be told one.
func free(t testing.TB) uint16 {
	c := socket(t, loopback)
	defer func() { _ = c.Close() }()
	return port(c)
}

func (u *usrsctp) listen(t testing.TB) netip.AddrPort {
	p := free(t)
	u.run(t, "listen", strconv.Itoa(int(p)))
	return netip.AddrPortFrom(loopback, p)
}

func (u *usrsctp) open(t testing.TB, to netip.AddrPort) (kill func()) {
	return u.run(t, "connect", strconv.Itoa(int(free(t))), strconv.Itoa(int(to.Port())))
}

func (u *usrsctp) run(t testing.TB, args ...string) (kill func()) {
	c := exec.Command(u.program, args...)
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	c.Stderr = t.Output()
	require.NoError(t, c.Start())
	kill = sync.OnceFunc(func() {
		_ = c.Process.Kill()
		_ = in.Close()
		_ = c.Wait()
	})
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	return kill
}
