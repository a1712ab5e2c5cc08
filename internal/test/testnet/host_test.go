//go:build linux

package testnet_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/testnet"
)

func TestHostsHaveNamesAndInterfacesOfTheirOwn(t *testing.T) {
	a, b, _ := two(t, testnet.Names("eno1", "eno2"))
	for host, nic := range map[*testnet.Host]string{a: "eno1", b: "eno2"} {
		require.NoError(t, host.Do(func() error {
			name, err := os.Hostname()
			assert.Equal(t, host.Name(), name)
			assert.NoError(t, err)
			entries, err := os.ReadDir("/sys/class/net")
			if assert.Len(t, entries, 2) {
				assert.Equal(t, []string{nic, "lo"}, []string{entries[0].Name(), entries[1].Name()})
			}
			return err
		}))
		out, err := host.Command("sh", "-c", "uname -n; ls /sys/class/net; pwd").CombinedOutput()
		require.NoError(t, err, "%s", out)
		dir, err := os.Getwd()
		require.NoError(t, err)
		assert.Equal(t, []string{host.Name(), nic, "lo", dir}, strings.Fields(string(out)))
	}
	before, err := os.Hostname()
	require.NoError(t, err)
	assert.NotEqual(t, "a", before, "the test itself stays where it is")
}

func TestCommandThatDoesNotExist(t *testing.T) {
	a := testnet.New(t).Host("a")
	out, err := a.Command("strand-no-such-program").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "strand-no-such-program")
}

func TestDoReturnsWhatItsFunctionReturns(t *testing.T) {
	a := testnet.New(t).Host("a")
	require.ErrorIs(t, a.Do(func() error { return os.ErrClosed }), os.ErrClosed)
}

func TestRouter(t *testing.T) {
	n := testnet.New(t)
	a, r, b := n.Host("a"), n.Host("r"), n.Host("b")
	left := n.Link(a, r, testnet.Subnet("10.1.0.0/24"), testnet.Subnet("fd00:1::/64"))
	right := n.Link(r, b, testnet.Subnet("10.2.0.0/24"), testnet.Subnet("fd00:2::/64"))
	r.Forward()
	a.Route("10.2.0.0/24", left.B.Addr(0))
	a.Route("fd00:2::/64", left.B.Addr(1))
	b.Route("10.1.0.0/24", right.A.Addr(0))
	b.Route("::/0", right.A.Addr(1))
	for i := range 2 {
		near, far := pair(t, a, listen(t, b, right.B.Addr(i), 0))
		requireTalk(t, near, far)
	}
	// Routes through a gateway come back with their interface.
	left.Down()
	left.Up()
	for i := range 2 {
		near, far := pair(t, a, listen(t, b, right.B.Addr(i), 0))
		requireTalk(t, near, far)
	}
}
