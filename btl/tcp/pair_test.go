package tcp

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func at(network byte, ifaces ...ifaddr) *address {
	return &address{port: 7000, network: networkID{network}, ifaces: ifaces}
}

func nic(name, prefix string, speed int) ifaddr {
	return ifaddr{prefix: netip.MustParsePrefix(prefix), name: name, speed: speed}
}

func TestChoosePair(t *testing.T) {
	lo := nic("lo", "127.0.0.1/8", 0)
	lo6 := nic("lo", "::1/128", 0)
	tests := []struct {
		name          string
		local, remote *address
		want          string // "" for none
	}{
		{"one machine: the loopback", at(1, nic("eth0", "10.0.0.1/24", 1000), lo), at(1, nic("eth0", "10.0.0.1/24", 1000), lo),
			"127.0.0.1 (lo) → 127.0.0.1:7000"},
		{"one machine, IPv4 before IPv6", at(1, lo6, lo), at(1, lo6, lo), "127.0.0.1 (lo) → 127.0.0.1:7000"},
		{"one machine without a loopback", at(1, nic("eth0", "10.0.0.1/24", 0)), at(1, nic("eth0", "10.0.0.1/24", 0)),
			"10.0.0.1 (eth0) → 10.0.0.1:7000"},
		{"two machines: never the loopback", at(1, lo), at(2, lo), ""},
		{"two machines, one subnet", at(1, lo, nic("eth0", "10.0.0.1/24", 0)), at(2, lo, nic("eth0", "10.0.0.2/24", 0)),
			"10.0.0.1 (eth0) → 10.0.0.2:7000"},
		{"the subnet before the other net", at(1, nic("eth0", "10.0.0.1/24", 0), nic("eth1", "192.168.1.1/24", 0)),
			at(2, nic("eth1", "192.168.1.2/24", 0)), "192.168.1.1 (eth1) → 192.168.1.2:7000"},
		{"the faster subnet", at(1, nic("eth0", "10.0.0.1/24", 100), nic("eth1", "10.1.0.1/24", 1000)),
			at(2, nic("eth0", "10.0.0.2/24", 100), nic("eth1", "10.1.0.2/24", 1000)), "10.1.0.1 (eth1) → 10.1.0.2:7000"},
		{"private with private before private with public", at(1, nic("eth0", "10.0.0.1/24", 0), nic("eth1", "192.0.2.1/24", 0)),
			at(2, nic("eth0", "10.9.0.2/24", 0)), "10.0.0.1 (eth0) → 10.9.0.2:7000"},
		{"public with private if nothing else", at(1, nic("eth1", "192.0.2.1/24", 0)),
			at(2, nic("eth0", "10.9.0.2/24", 0)), "192.0.2.1 (eth1) → 10.9.0.2:7000"},
		{"docker0 has the same address everywhere", at(1, nic("docker0", "172.17.0.1/16", 0)), at(2, nic("docker0", "172.17.0.1/16", 0)), ""},
		{"docker0 beside a real network", at(1, nic("docker0", "172.17.0.1/16", 0), nic("eth0", "10.0.0.1/24", 0)),
			at(2, nic("docker0", "172.17.0.1/16", 0), nic("eth0", "10.0.0.2/24", 0)), "10.0.0.1 (eth0) → 10.0.0.2:7000"},
		{"families do not mix", at(1, nic("eth0", "10.0.0.1/24", 0)), at(2, nic("eth0", "fd00::2/64", 0)), ""},
		{"IPv6", at(1, nic("eth0", "fd00::1/64", 0)), at(2, nic("eth0", "fd00::2/64", 0)), "fd00::1 (eth0) → [fd00::2]:7000"},
		{"nothing here", at(1), at(2, nic("eth0", "10.0.0.2/24", 0)), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := choosePair(test.local, test.remote)
			if test.want == "" {
				require.ErrorIs(t, err, errNoPair)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, p.String())
		})
	}
}

func TestPairSource(t *testing.T) {
	p := pair{from: nic("eth0", "10.0.0.1/24", 100), to: nic("eth0", "10.0.0.2/24", 0)}
	require.Equal(t, netip.MustParseAddr("10.0.0.1"), p.source())
	require.Equal(t, 100, p.speed())
	p.loopback = true
	require.False(t, p.source().IsValid())
	p.to.speed = 10
	require.Equal(t, 10, p.speed())
}

func TestSelectAddresses(t *testing.T) {
	all := []ifaddr{
		{prefix: netip.MustParsePrefix("127.0.0.1/8"), index: 1, name: "lo"},
		{prefix: netip.MustParsePrefix("10.8.47.1/24"), index: 2, speed: 1000, name: "eth0"},
		{prefix: netip.MustParsePrefix("fd00::1/64"), index: 2, speed: 1000, name: "eth0"},
		{prefix: netip.MustParsePrefix("10.9.0.1/16"), index: 3, speed: 10000, name: "eth1"},
		{prefix: netip.MustParsePrefix("172.17.0.1/16"), index: 4, name: "docker0"},
	}
	with := func(include, exclude []string, most int) config {
		return config{include: include, exclude: exclude, maxInterfaces: most, includeWhere: "INCLUDE", excludeWhere: "EXCLUDE"}
	}
	tests := []struct {
		name string
		c    config
		want []int
		err  string
	}{
		{"everything", with(nil, nil, 0), []int{0, 1, 2, 3, 4}, ""},
		{"a name", with([]string{"eth0"}, nil, 0), []int{1, 2}, ""},
		{"a pattern", with([]string{"eth*"}, nil, 0), []int{1, 2, 3}, ""},
		{"a subnet", with([]string{"10.8.0.0/16"}, nil, 0), []int{1}, ""},
		{"a subnet of IPv6", with([]string{"fd00::/8", "lo"}, nil, 0), []int{0, 2}, ""},
		{"an address", with([]string{"10.9.0.1"}, nil, 0), []int{3}, ""},
		{"all but", with(nil, []string{"docker*", "fd00::/8"}, 0), []int{0, 1, 3}, ""},
		{"no loopback", with(nil, []string{"127.0.0.0/8"}, 0), []int{1, 2, 3, 4}, ""},
		{"the fastest", with(nil, nil, 1), []int{0, 3}, ""},
		{"the two fastest", with(nil, nil, 2), []int{0, 1, 2, 3}, ""},
		{"unknown interface", with([]string{"eth7"}, nil, 0), nil,
			`INCLUDE: no interface that is up fits "eth7"; there are lo 127.0.0.1/8, eth0 10.8.47.1/24`},
		{"unknown exclusion", with(nil, []string{"ib0"}, 0), nil, `EXCLUDE: no interface that is up fits "ib0"`},
		{"bad subnet", with([]string{"10.8.0.0/99"}, nil, 0), nil, "10.8.0.0/99"},
		{"bad pattern", with([]string{"eth["}, nil, 0), nil, `"eth["`},
		{"nothing left", with(nil, []string{"*"}, 0), nil, "EXCLUDE leaves no network to use; there are lo"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := selectAddresses(all, test.c)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			var want []ifaddr
			for _, i := range test.want {
				want = append(want, all[i])
			}
			require.Equal(t, want, got)
		})
	}
}
