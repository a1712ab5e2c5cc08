package interop

import (
	"bufio"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// usrsctp is the stack of FreeBSD in user space, as Debian has it. The program is testdata/usrsctp.c.
type usrsctp struct{ program string }

func (*usrsctp) name() string   { return "usrsctp 0.9.5" }
func (*usrsctp) encap() int     { return 0 }
func (*usrsctp) most() int      { return 0 }
func (*usrsctp) lastWord() byte { return 0 }
func (*usrsctp) lacks(bool) lack {
	return lack{"zero checksum": "not in 0.9.5"}
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

func (u *usrsctp) listen(t testing.TB, at place) uint16 {
	p := free(t)
	u.run(t, at, "listen", decimal(p), list(at.addrs))
	return p
}

func (u *usrsctp) open(t testing.TB, at place, to ...netip.AddrPort) (kill func()) {
	var addrs []netip.Addr
	for _, a := range to {
		addrs = append(addrs, a.Addr())
	}
	return u.run(t, at, "connect", decimal(free(t)), list(at.addrs), decimal(to[0].Port()), list(addrs))
}

func decimal(port uint16) string { return strconv.Itoa(int(port)) }

func list(addrs []netip.Addr) string {
	var all []string
	for _, a := range addrs {
		all = append(all, a.String())
	}
	return strings.Join(all, ",")
}

func (u *usrsctp) run(t testing.TB, at place, args ...string) (kill func()) {
	command := append([]string{u.program}, args...)
	if at.host != nil {
		command = append(at.host.Prefix(), command...)
	}
	c := exec.Command(command[0], command[1:]...)
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
