package reach

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked counts look-ups.
type asked struct {
	times int
	err   error
}

func (a *asked) lookup(_, to netip.Addr) (Route, error) {
	a.times++
	if a.err != nil {
		return Route{}, a.err
	}
	if to == netip.MustParseAddr("10.9.9.9") {
		return Route{}, ErrNoRoute
	}
	return Route{Interface: 2}, nil
}

func card1(text string, index int) Address {
	return Address{Prefix: netip.MustParsePrefix(text), Interface: "eth0", Index: index}
}

func TestMemory(t *testing.T) {
	var kernel asked
	m := Remember(RoutePolicy(kernel.lookup))
	require.Equal(t, "route", m.Name())
	local := Side{Network: Network{1}, Addresses: []Address{card1("10.0.0.1/24", 2), card1("10.0.1.1/24", 3)}}
	remote := Side{Network: Network{2}, Addresses: []Address{card1("10.0.0.2/24", 2), card1("10.9.9.9/24", 3)}}
	want := Match(local, remote, RoutePolicy(kernel.lookup))
	require.Equal(t, 4, kernel.times)
	for range 3 {
		require.Equal(t, want, Match(local, remote, m))
	}
	require.Equal(t, 8, kernel.times, "each pair is asked about once, the one without a route too")
	m.Forget()
	require.Equal(t, want, Match(local, remote, m))
	require.Equal(t, 12, kernel.times)
}

// What could not be asked is asked again, and a policy without routes has nothing
// to remember.
func TestMemoryOfFailures(t *testing.T) {
	kernel := asked{err: errors.New("no netlink here")}
	m := Remember(RoutePolicy(kernel.lookup))
	local := Side{Network: Network{1}, Addresses: []Address{card1("10.0.0.1/24", 2)}}
	remote := Side{Network: Network{2}, Addresses: []Address{card1("10.0.0.2/24", 2)}}
	for range 2 {
		require.Contains(t, Match(local, remote, m).Pairs[0].Why, "routes can not be read")
	}
	require.Equal(t, 2, kernel.times)
	require.Equal(t, Match(local, remote, weighted), Match(local, remote, Remember(weighted)))
}

// A memory is bounded whatever peers there are.
func TestMemoryIsBounded(t *testing.T) {
	var kernel asked
	m := Remember(RoutePolicy(kernel.lookup))
	policy, done := m.open()
	defer done()
	from := card1("10.0.0.1/24", 2)
	for i := range 3 * mostAnswers / 2 {
		to := card1("10.0.0.2/24", 2)
		to.Prefix = netip.PrefixFrom(netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8), byte(i)}), 24)
		policy.Score(from, to, false)
		require.LessOrEqual(t, len(m.routes), mostAnswers)
	}
}
