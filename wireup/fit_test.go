package wireup

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/reach"
)

func face(index int, name, prefix string, speed int, flags reach.Flags) reach.Address {
	return reach.Address{Prefix: netip.MustParsePrefix(prefix), Interface: name, Index: index, Speed: speed, Flags: flags}
}

// On a host with hundreds of ends of containers' links the cards are found.
func TestFitChoosesCards(t *testing.T) {
	all := []reach.Address{face(1, "lo", "127.0.0.1/8", 0, reach.Loopback), face(1, "lo", "::1/128", 0, reach.Loopback)}
	for i := range 100 {
		all = append(all, face(10+2*i, fmt.Sprintf("veth%d", i), fmt.Sprintf("fe80::%x/64", i+1), 10000, 0),
			face(11+2*i, fmt.Sprintf("cali%d", i), fmt.Sprintf("10.%d.0.1/32", i), 10000, 0))
	}
	for i := range 40 {
		all = append(all, face(300+i, fmt.Sprintf("br-%d", i), fmt.Sprintf("172.18.%d.1/24", i), 10000, reach.Enclosed))
	}
	for i := range 70 {
		all = append(all, face(400, "eth0", fmt.Sprintf("10.200.%d.1/24", i), 1000, 0)) // aliases
	}
	cards := []reach.Address{face(400, "eth0", "fd00:1::1/64", 1000, 0), face(401, "eth1", "10.201.0.1/24", 100, 0), face(402, "eth2", "fd00:2::1/64", 0, 0)}
	all = append(all, cards...)
	fit, left := Fit(all)
	require.LessOrEqual(t, len(fit), MaxInterfaces)
	require.Len(t, append(left, fit...), len(all))
	for _, want := range append(cards, all[0], all[1], face(400, "eth0", "10.200.0.1/24", 1000, 0)) {
		require.Contains(t, fit, want)
	}
	for i := 1; i < len(fit); i++ {
		require.LessOrEqual(t, fit[i-1].Index, fit[i].Index, "they stay in their order")
	}
	require.LessOrEqual(t, len((&Address{Port: 1, Host: "h", Interfaces: fit}).Encode()), MaxSize)
}

// What is left out is told, and how to choose otherwise; one choice among few takes no
// tunnel for a card.
func TestSelectTellsWhatIsLeftOut(t *testing.T) {
	var all []reach.Address
	for i := range 90 {
		all = append(all, face(i+1, fmt.Sprintf("eth%d", i), fmt.Sprintf("10.0.%d.1/24", i), 1000, 0))
	}
	var told []string
	c := Choice{DisableFamily: "none", IncludeName: "btl_tcp_if_include", Warn: func(err error) { told = append(told, err.Error()) }}
	fit, err := c.Select(all)
	require.NoError(t, err)
	require.Len(t, told, 1)
	require.Greater(t, len(fit), 50)
	require.Contains(t, told[0], "90 addresses are more than peers can be told of; not used are eth")
	require.Contains(t, told[0], "name those that are wanted with btl_tcp_if_include")

	c.MaxInterfaces, told = 1, nil
	fit, err = c.Select([]reach.Address{face(1, "wg0", "10.0.1.1/24", 0, reach.Tunnel), face(2, "docker0", "172.17.0.1/16", 10000, reach.Enclosed), face(3, "eth0", "10.0.0.1/24", 100, 0)})
	require.NoError(t, err)
	require.Len(t, fit, 1)
	require.Equal(t, "eth0", fit[0].Interface)
	require.Empty(t, told)
}

// All of a host's 44 interfaces with an IPv6 address and a link-local one each would
// have made a hello of two transports too long.
func TestFortyFourInterfacesFit(t *testing.T) {
	var all []reach.Address
	for i := range 44 {
		all = append(all, face(i+2, fmt.Sprintf("eth%d", i), fmt.Sprintf("fd00:%x::%x/64", i+1, i+1), 25000, 0),
			face(i+2, fmt.Sprintf("eth%d", i), fmt.Sprintf("fe80::42:acff:fe%02x:%x/64", i, 0x1100+i), 25000, 0))
	}
	fit, _ := Fit(all)
	require.Len(t, fit, MaxInterfaces)
	for i := range 44 {
		require.Contains(t, fit, all[2*i])
	}
	a := &Address{Port: 1, Host: "node", Interfaces: fit}
	b := a.Encode()
	require.LessOrEqual(t, len(b), MaxSize)
	got, err := Decode(b)
	require.NoError(t, err)
	require.Equal(t, a, got)
	t.Logf("%d bytes", len(b))
}
