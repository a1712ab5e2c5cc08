package selection

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

func overrides(t *testing.T, transport string, settings ...param.Setting) Overrides {
	r := param.NewRegistry()
	Declare(r, transport)
	values, err := r.Resolve(param.Inputs{Settings: settings})
	require.NoError(t, err)
	return OverridesFrom(values, transport)
}

func set(name, text string) param.Setting {
	return param.Setting{Name: name, Text: text, Source: param.Source{Kind: param.Option}}
}

func TestNothingIsOverriddenUnlessSet(t *testing.T) {
	assert.Equal(t, Overrides{}.Attr(btl.Attr{Exclusivity: 7}), overrides(t, "tcp").Attr(btl.Attr{Exclusivity: 7}))
	p := []btl.Path{{Bandwidth: 3, Latency: 4, Bundle: 1}}
	assert.Equal(t, p, overrides(t, "tcp").paths(p))
}

// SCTP first, TCP where that fails.
func TestExclusivityIsTheUsers(t *testing.T) {
	tcp, sctp := offer("tcp", 100, btl.Path{Desc: "eth0"}), offer("sctp", 90, btl.Path{Desc: "eth0"})
	tcp.StandsBy = true
	sctp.Overrides = overrides(t, "sctp", set("btl_sctp_exclusivity", "101"))
	c, err := Pick(0, peer3, []Offer{tcp, sctp})
	require.NoError(t, err)
	require.Len(t, c.Rails, 1)
	assert.Equal(t, "sctp", c.Rails[0].Attr.Name)
	assert.Equal(t, 101, c.Rails[0].Attr.Exclusivity)
	require.Len(t, c.Standby, 1)
	assert.Equal(t, "tcp", c.Standby[0].Attr.Name)
	assert.Contains(t, c.Reasons, "tcp: stands by: its exclusivity 100 is below 101, that of sctp")

	sctp.Overrides = overrides(t, "sctp", set("btl_sctp_exclusivity", "100")) // together
	c, err = Pick(0, peer3, []Offer{tcp, sctp})
	require.NoError(t, err)
	assert.Len(t, c.Rails, 2)

	tcp.Overrides = overrides(t, "tcp", set("btl_tcp_exclusivity", "0")) // 0 is a number like any
	c, err = Pick(0, peer3, []Offer{tcp, sctp})
	require.NoError(t, err)
	require.Len(t, c.Rails, 1)
	assert.Equal(t, "sctp", c.Rails[0].Attr.Name)
}

func TestBandwidthAndLatencyAreTheUsers(t *testing.T) {
	fast := offer("fast", 10, btl.Path{Bandwidth: 9000, Latency: time.Microsecond})
	slow := offer("slow", 10,
		btl.Path{Bandwidth: 10, Latency: time.Second, Bundle: 1},
		btl.Path{Bandwidth: 10, Latency: time.Second, Bundle: 1, Index: 1})
	slow.Overrides = overrides(t, "slow", set("btl_slow_bandwidth", "3000"), set("btl_slow_latency", "1ns"))
	c, err := Pick(0, peer3, []Offer{fast, slow})
	require.NoError(t, err)
	require.Len(t, c.Rails, 3)
	assert.Equal(t, "slow", c.Rails[0].Attr.Name, "short messages take the lowest latency")
	for _, r := range c.Rails {
		if r.Attr.Name == "slow" {
			assert.Equal(t, 1500, r.Bandwidth, "parallel connections share their network")
			assert.Equal(t, time.Nanosecond, r.Latency)
			assert.InDelta(t, 0.125, r.Weight, 1e-9)
		}
	}
	at := c.Join(Offer{Module: slow.Module, Paths: []btl.Path{{Latency: time.Hour}}, Overrides: slow.Overrides}, "the peer has connected")
	assert.Equal(t, 3000, c.Rails[at].Bandwidth)
	assert.Equal(t, time.Nanosecond, c.Rails[at].Latency)
}

// What the user says of the networks of a transport is what messages are shared by, whatever the transport thinks of them. Spare paths
// keep their order.
func TestBandwidthIsTheUsersOfEachNetwork(t *testing.T) {
	tcp := offer("tcp", 10,
		btl.Path{Bandwidth: 10_000, Weight: 1e6}, btl.Path{Bandwidth: 1000, Weight: 1e5, Index: 1},
		btl.Path{Bandwidth: 1000, Weight: 2, Index: 9, Spare: btl.Detour}, btl.Path{Bandwidth: 1000, Weight: 1, Index: 8, Spare: btl.Detour})
	tcp.Overrides = overrides(t, "tcp", set("btl_tcp_bandwidth", "1000"))
	c, err := Pick(0, peer3, []Offer{tcp})
	require.NoError(t, err)
	require.Len(t, c.Rails, 2)
	for i, r := range c.Rails {
		assert.Equal(t, i, r.Path.Index)
		assert.InDelta(t, 0.5, r.Weight, 1e-9)
	}
	require.Len(t, c.Standby, 2)
	assert.Equal(t, 9, c.Standby[0].Path.Index)
}
