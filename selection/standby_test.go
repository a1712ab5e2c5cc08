package selection

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// standby is an offer of a module that may stand by.
func standby(name string, exclusivity int, paths ...btl.Path) Offer {
	o := offer(name, exclusivity, paths...)
	o.StandsBy = true
	return o
}

func TestWhatIsNotChosenStandsBy(t *testing.T) {
	c, err := Pick(0, peer3, []Offer{
		standby("udp", 10, btl.Path{Desc: "eth0", Latency: time.Second}, btl.Path{Desc: "eth1", Index: 1}),
		standby("fast", 50, btl.Path{}),
		standby("tcp", 30, btl.Path{}),
		offer("sctp", 40, btl.Path{}),
		refuse("shm", "another host"),
	})
	require.NoError(t, err)
	require.Len(t, c.Rails, 1)
	var names []string
	for _, r := range c.Standby {
		names = append(names, r.String())
		assert.Positive(t, r.Weight)
	}
	assert.Equal(t, []string{"tcp", "udp eth1", "udp eth0"}, names, "the highest exclusivity first, then the lowest latency")
	assert.Equal(t, []string{
		"fast: carries everything, being the only path",
		"sctp: not used: its exclusivity 40 is below 50, that of fast",
		"shm: not used: another host",
		"tcp: stands by: its exclusivity 30 is below 50, that of fast",
		"udp: stands by: its exclusivity 10 is below 50, that of fast",
	}, c.Reasons)
}

func TestNothingStandsByForWhatCanNotBreak(t *testing.T) {
	self := standby("self", 50, btl.Path{})
	self.Module.(*module).attr.Unbreakable = true
	c, err := Pick(3, peer3, []Offer{self, standby("tcp", 30, btl.Path{})})
	require.NoError(t, err)
	assert.Empty(t, c.Standby)
	assert.Equal(t, "tcp: not used: its exclusivity 30 is below 50, that of self", c.Reasons[1])
}

// Spare paths stand by for the others of their module, whether or not the module may
// stand by for another one, behind what is as good and ordered by their modules.
func TestSparePathsStandBy(t *testing.T) {
	c, err := Pick(0, peer3, []Offer{
		offer("tcp", 100, btl.Path{Desc: "poor", Index: 63, Spare: btl.Detour, Weight: 1}, btl.Path{Desc: "eth0"}, btl.Path{Desc: "fair", Index: 62, Spare: btl.Parallel, Weight: 2}),
		standby("udp", 50, btl.Path{Desc: "eth1", Index: 1, Spare: btl.Detour}, btl.Path{Desc: "eth0"}),
		offer("sctp", 40, btl.Path{}, btl.Path{Index: 1, Spare: btl.Detour}),
		standby("odd", 30, btl.Path{Spare: btl.Detour}),
	})
	require.NoError(t, err)
	require.Len(t, c.Rails, 1)
	assert.Equal(t, 1.0, c.Rails[0].Weight)
	var names []string
	for _, r := range c.Standby {
		names = append(names, r.String())
	}
	assert.Equal(t, []string{"tcp fair", "tcp poor", "udp eth0", "udp eth1"}, names)
	assert.Equal(t, []string{
		"tcp eth0: carries everything, being the only path",
		"tcp fair: spare, for when no other path of tcp is connected",
		"tcp poor: spare, for when no other path of tcp is connected",
		"udp eth1: spare, for when no other path of udp is connected",
	}, c.Reasons[:4])

	c.Join(Offer{Module: c.Rails[0].Module, Paths: []btl.Path{{Desc: "theirs", Index: 61, Spare: btl.Detour}}}, "why")
	assert.Len(t, c.Rails, 2, "the peer has connected it")
}
