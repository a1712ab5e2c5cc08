package wireup

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/reach"
)

func TestSelectAddresses(t *testing.T) {
	all := []reach.Address{
		{Prefix: netip.MustParsePrefix("127.0.0.1/8"), Index: 1, Interface: "lo"},
		{Prefix: netip.MustParsePrefix("10.8.47.1/24"), Index: 2, Speed: 1000, Interface: "eth0"},
		{Prefix: netip.MustParsePrefix("fd00::1/64"), Index: 2, Speed: 1000, Interface: "eth0"},
		{Prefix: netip.MustParsePrefix("10.9.0.1/16"), Index: 3, Speed: 10000, Interface: "eth1"},
		{Prefix: netip.MustParsePrefix("172.17.0.1/16"), Index: 4, Interface: "docker0", Flags: reach.Enclosed},
	}
	with := func(include, exclude []string, most int) Choice {
		return Choice{Include: include, Exclude: exclude, MaxInterfaces: most, DisableFamily: "none", FamilyWhere: "FAMILY", UnknownName: "UNKNOWN", IncludeWhere: "INCLUDE", ExcludeWhere: "EXCLUDE"}
	}
	without := func(family string, include ...string) Choice {
		c := with(include, nil, 0)
		c.DisableFamily = family
		return c
	}
	tests := []struct {
		name string
		c    Choice
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
		{"no IPv4", without("4"), []int{2}, ""},
		{"no IPv6", without("6"), []int{0, 1, 3, 4}, ""},
		{"nothing of the other family", without("4", "eth1"), nil, "FAMILY leaves no address to use; there are eth1 10.9.0.1/16"},
		{"unknown interface", with([]string{"eth7"}, nil, 0), nil,
			`INCLUDE: no interface that is up fits "eth7"; there are lo 127.0.0.1/8, eth0 10.8.47.1/24`},
		{"unknown exclusion", with(nil, []string{"ib0"}, 0), nil, `EXCLUDE: no interface that is up fits "ib0"`},
		{"what to do about it", with(nil, []string{"ib0"}, 0), nil, `UNKNOWN=warn passes over it`},
		{"bad subnet", with([]string{"10.8.0.0/99"}, nil, 0), nil, "10.8.0.0/99"},
		{"bad pattern", with([]string{"eth["}, nil, 0), nil, `"eth["`},
		{"both lists", with([]string{"eth0"}, []string{"eth1"}, 0), nil, "INCLUDE and EXCLUDE exclude each other"},
		{"nothing left", with(nil, []string{"*"}, 0), nil, "EXCLUDE leaves no network to use; there are lo"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.c.Select(all)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			var want []reach.Address
			for _, i := range test.want {
				want = append(want, all[i])
			}
			require.Equal(t, want, got)
		})
	}
}

// Interfaces may have the same link-local address. The zone says which one is meant.
func TestSelectByAddressWithZone(t *testing.T) {
	all := []reach.Address{
		{Prefix: netip.MustParsePrefix("fe80::1/64"), Index: 2, Interface: "eth0"},
		{Prefix: netip.MustParsePrefix("fe80::1/64"), Index: 3, Interface: "eth0.7"},
		{Prefix: netip.MustParsePrefix("10.0.0.1/24"), Index: 3, Interface: "eth0.7"},
	}
	for entry, want := range map[string][]reach.Address{"fe80::1%eth0.7": all[1:2], "fe80::1": all[:2], "::ffff:10.0.0.1": all[2:]} {
		c := Choice{Include: []string{entry}, DisableFamily: "none"}
		got, err := c.Select(all)
		require.NoError(t, err, entry)
		require.Equal(t, want, got, entry)
	}
	c := Choice{Include: []string{"fe80::1%eth1"}, DisableFamily: "none"}
	_, err := c.Select(all)
	require.ErrorContains(t, err, `no interface that is up fits "fe80::1%eth1"`)
}

// Where hosts differ, an entry that fits nothing on one of them may be only worth a
// warning.
func TestUnknownIsTold(t *testing.T) {
	all := []reach.Address{{Prefix: netip.MustParsePrefix("10.8.47.1/24"), Index: 2, Interface: "eth0"}}
	var told []string
	unknown := func(err error) { told = append(told, err.Error()) }
	c := Choice{Exclude: []string{"docker0", "eth9"}, ExcludeWhere: "EXCLUDE", DisableFamily: "none", Unknown: unknown}
	got, err := c.Select(all)
	require.NoError(t, err)
	require.Equal(t, all, got)
	require.Len(t, told, 2)
	require.Equal(t, `EXCLUDE: no interface that is up fits "docker0"; there are eth0 10.8.47.1/24`, told[0])

	c = Choice{Include: []string{"ib0"}, IncludeWhere: "INCLUDE", DisableFamily: "none", Unknown: unknown}
	_, err = c.Select(all)
	require.ErrorContains(t, err, "INCLUDE leaves no network to use; there are eth0")
}

// A Limiter lets one line a second through and says how many it has kept.
func TestLimiter(t *testing.T) {
	var l Limiter
	_, ok := l.Allow(1)
	require.True(t, ok)
	for range 7 {
		_, ok = l.Allow(int64(time.Second) / 2)
		require.False(t, ok)
	}
	dropped, ok := l.Allow(2 * int64(time.Second))
	require.True(t, ok)
	require.Equal(t, 7, dropped)
}
