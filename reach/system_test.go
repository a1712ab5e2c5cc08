package reach

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the package reads is what the standard library knows.
func TestSystem(t *testing.T) {
	s, err := System()
	require.NoError(t, err)
	known := make(map[string]bool)
	interfaces, err := net.Interfaces()
	require.NoError(t, err)
	for _, i := range interfaces {
		addrs, err := i.Addrs()
		require.NoError(t, err)
		for _, a := range addrs {
			known[i.Name+" "+a.String()] = true
		}
	}
	require.NotEmpty(t, s.Addresses)
	for _, a := range s.Addresses {
		assert.True(t, known[a.Interface+" "+a.Prefix.String()], "%v", a)
		assert.Positive(t, a.Index)
		assert.True(t, !a.Addr().IsLoopback() || a.Flags&Loopback != 0, "%v", a)
	}
}

func TestThisNetwork(t *testing.T) {
	assert.Equal(t, ThisNetwork(), ThisNetwork())
	n := Network{1}
	assert.True(t, n.Same(n))
	assert.False(t, n.Differs(n))
	assert.False(t, n.Same(Network{2}))
	assert.True(t, n.Differs(Network{2}))
	for _, other := range []Network{n, {}} {
		assert.False(t, Network{}.Same(other), "what is not known is not the same")
		assert.False(t, Network{}.Differs(other), "nor another")
		assert.False(t, other.Differs(Network{}))
	}
}

// This host with itself: one pair, on the loopback.
func TestMatchThisHost(t *testing.T) {
	s, err := System()
	require.NoError(t, err)
	unknown := s
	unknown.Network = Network{} // as where /proc is masked
	for _, name := range PolicyNames() {
		for _, pair := range [][2]Side{{s, s}, {unknown, s}, {unknown, unknown}} {
			r := Match(pair[0], pair[1], policy(t, name))
			require.Len(t, r.Pairs, 1, "%s\n%s", name, r.Table())
			assert.True(t, r.Pairs[0].Local.Addr().IsLoopback(), name)
			assert.True(t, r.Pairs[0].Loopback, name)
		}
	}
}

func TestTable(t *testing.T) {
	r := Match(host(1, "eth0 10.8.47.1/24 1000", "eth1 192.168.1.1/24 no-carrier"), host(2, "eth0 10.8.47.2/24 1000"), weighted)
	assert.Equal(t, `Weights, from here (rows) to the peer (columns)
  [1]  eth0 10.8.47.2/24, 1000 Mbit/s
                                   [1]
  eth0 10.8.47.1/24, 1000 Mbit/s   80080*
  eth1 192.168.1.1/24, no carrier  0

Chosen
  10.8.47.1 (eth0) → 10.8.47.2 (eth0)  80080  private, one subnet

Not chosen
  192.168.1.1 (eth1) → 10.8.47.2 (eth0)  0  eth1 here has no carrier
`, r.Table())
}
