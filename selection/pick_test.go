package selection

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
)

// module is one that has nothing but attributes. Methods that selection must
// not call end the test with a nil call.
type module struct {
	btl.Module
	attr btl.Attr
}

func (m *module) Attr() btl.Attr { return m.attr }

func offer(name string, exclusivity int, paths ...btl.Path) Offer {
	return Offer{
		Module: &module{attr: btl.Attr{Name: name, Exclusivity: exclusivity, Bandwidth: 1000, Latency: 30 * time.Microsecond}},
		Paths:  paths,
	}
}

func refuse(name, reason string) Offer {
	o := offer(name, 1)
	o.Refusal = errors.New(reason)
	return o
}

var peer3 = btl.Peer{Rank: 3, Host: "node7"}

func TestOnlyHighestExclusivityServes(t *testing.T) {
	c, err := Pick(0, peer3, []Offer{
		offer("tcp", 10, btl.Path{Desc: "eth0"}),
		offer("shm", 50, btl.Path{}),
		refuse("sctp", "no kernel SCTP"),
	})
	require.NoError(t, err)
	require.Len(t, c.Rails, 1)
	assert.Equal(t, "shm", c.Rails[0].Attr.Name)
	assert.InDelta(t, 1, c.Rails[0].Weight, 1e-9)
	assert.Equal(t, []string{
		"shm: carries everything, being the only path",
		"sctp: not used: no kernel SCTP",
		"tcp: not used: its exclusivity 10 is below 50, that of shm",
	}, c.Reasons)
}

// Between two paths of one speed the module's weights decide: a path by a gateway is worth half of
// a direct one, and a tunnel next to nothing. They say nothing about other modules' paths.
func TestOpinionWeighs(t *testing.T) {
	c, err := Pick(0, peer3, []Offer{
		offer("tcp", 10,
			btl.Path{Index: 0, Desc: "direct", Bandwidth: 1000, Weight: 100 * 1001},
			btl.Path{Index: 1, Desc: "by a gateway", Bandwidth: 1000, Weight: 50 * 1001},
			btl.Path{Index: 2, Desc: "tunnel", Bandwidth: 10, Weight: 0.1}),
		offer("other", 10, btl.Path{Desc: "alone", Bandwidth: 1000, Weight: 1}),
		offer("silent", 10, btl.Path{Desc: "of no opinion", Bandwidth: 500}),
	})
	require.NoError(t, err)
	share := make(map[string]float64)
	for _, r := range c.Rails {
		share[r.Path.Desc] = r.Weight * 3000
	}
	assert.InDelta(t, 1000, share["direct"], 1)
	assert.InDelta(t, 500, share["by a gateway"], 1)
	assert.InDelta(t, 1000, share["alone"], 1)
	assert.InDelta(t, 500, share["of no opinion"], 1)
	assert.Positive(t, share["tunnel"])
	assert.Less(t, share["tunnel"], 0.1)
}

func TestLatencyOrdersAndBandwidthWeighs(t *testing.T) {
	c, err := Pick(0, peer3, []Offer{offer("tcp", 10,
		btl.Path{Index: 0, Desc: "eth0", Bandwidth: 1000, Latency: 50 * time.Microsecond},
		btl.Path{Index: 1, Desc: "eth1", Bandwidth: 100, Latency: 20 * time.Microsecond},
	)})
	require.NoError(t, err)
	require.Len(t, c.Rails, 2)
	assert.Equal(t, "eth1", c.Rails[0].Path.Desc)
	assert.InDelta(t, 100.0/1100, c.Rails[0].Weight, 1e-9)
	assert.InDelta(t, 1000.0/1100, c.Rails[1].Weight, 1e-9)
	assert.Equal(t, []string{
		"tcp eth1: carries control and short messages (no rail has a lower latency than its 20µs) and 9.09 % of long messages (100 Mbit/s)",
		"tcp eth0: carries 90.9 % of long messages (1000 Mbit/s)",
	}, c.Reasons)
}

func TestPathInheritsFromModule(t *testing.T) {
	c, err := Pick(0, peer3, []Offer{offer("tcp", 0, btl.Path{}, btl.Path{Index: 1, Bandwidth: 4000})})
	require.NoError(t, err)
	assert.Equal(t, 4000, c.Rails[0].Bandwidth, "of equal latencies the higher bandwidth goes first")
	assert.Equal(t, 1000, c.Rails[1].Bandwidth)
	assert.Equal(t, 30*time.Microsecond, c.Rails[1].Latency)
}

func TestUnknownFiguresCountAsWorst(t *testing.T) {
	dumb := Offer{Module: &module{attr: btl.Attr{Name: "dumb"}}, Paths: []btl.Path{{}}}
	c, err := Pick(0, peer3, []Offer{dumb, offer("tcp", 0, btl.Path{Bandwidth: 300, Latency: time.Second})})
	require.NoError(t, err)
	assert.Equal(t, "tcp", c.Rails[0].Attr.Name)
	assert.InDelta(t, 0.5, c.Rails[1].Weight, 1e-9)
	assert.Contains(t, c.Reasons[1], "bandwidth unknown")

	c, err = Pick(0, peer3, []Offer{dumb})
	require.NoError(t, err)
	assert.InDelta(t, 1, c.Rails[0].Weight, 1e-9)
}

func TestUnreachable(t *testing.T) {
	for _, tc := range []struct {
		name   string
		rank   int
		offers []Offer
		want   string
	}{
		{"each module with its reason", 0, []Offer{refuse("tcp", "no route to 10.0.0.3"), offer("udp", 0), {Component: "sctp"}},
			`rank 0 can not reach rank 3 on node7: sctp: not available; tcp: no route to 10.0.0.3; udp: offers no path; ` +
				`let another transport serve it (STRAND_BTL); STRAND_VERBOSE=1 tells the addresses`},
		{"nothing in use", 0, nil,
			`rank 0 can not reach rank 3 on node7: no transport is in use; ` +
				`let another transport serve it (STRAND_BTL); STRAND_VERBOSE=1 tells the addresses`},
		{"self forgotten", 3, []Offer{refuse("tcp", "does not reach its own process")},
			"rank 3 can not send to itself: tcp: does not reach its own process; add self to the transports (STRAND_BTL=tcp,self)"},
		{"modules of one component", 3, []Offer{refuse("sctp/kernel", "no"), refuse("sctp/udp", "no"), refuse("self", "no")},
			"rank 3 can not send to itself: sctp/kernel: no; sctp/udp: no; self: no; add self to the transports (STRAND_BTL=sctp,self)"},
	} {
		_, err := Pick(tc.rank, peer3, tc.offers)
		var unreachable *UnreachableError
		require.ErrorAs(t, err, &unreachable, tc.name)
		assert.EqualError(t, err, tc.want, tc.name)
		assert.Len(t, unreachable.Refusals, len(tc.offers), tc.name)
	}
}

// A module that can not open is no reason to fail while another one serves.
func TestUnavailableComponentIsExplained(t *testing.T) {
	missing := &btl.UnavailableError{Component: "sctp", Reason: "protocol not supported"}
	c, err := Pick(0, peer3, []Offer{{Component: "sctp", Refusal: missing}, offer("tcp", 0, btl.Path{})})
	require.NoError(t, err)
	assert.Contains(t, c.Reasons, "sctp: not used: not available: protocol not supported")
	missing.Remedy = "modprobe sctp"
	c, err = Pick(0, peer3, []Offer{{Component: "sctp", Refusal: missing}, offer("tcp", 0, btl.Path{})})
	require.NoError(t, err)
	assert.Contains(t, c.Reasons, "sctp: not used: not available: protocol not supported (modprobe sctp)")
}

// A module's refusal may begin with its name, as its other errors do; people
// read it once.
func TestNamesAreNotDoubled(t *testing.T) {
	self := refuse("self", "self: rank 3 is another process")
	c, err := Pick(0, peer3, []Offer{self, offer("tcp", 0, btl.Path{})})
	require.NoError(t, err)
	assert.Contains(t, c.Reasons, "self: not used: rank 3 is another process")
	_, err = Pick(0, peer3, []Offer{self})
	assert.ErrorContains(t, err, "on node7: self: rank 3 is another process; let another")
}

// drawOffers makes any set of modules with names that differ.
func drawOffers(t *rapid.T) []Offer {
	var offers []Offer
	for i := range rapid.IntRange(0, 5).Draw(t, "modules") {
		attr := btl.Attr{
			Name:        fmt.Sprintf("m%d", i),
			Exclusivity: rapid.IntRange(-2, 2).Draw(t, "exclusivity"),
			Bandwidth:   rapid.IntRange(0, 3).Draw(t, "bandwidth"),
			Latency:     time.Duration(rapid.IntRange(0, 3).Draw(t, "latency")),
		}
		o := Offer{Module: &module{attr: attr}}
		for j := range rapid.IntRange(0, 4).Draw(t, "paths") {
			o.Paths = append(o.Paths, btl.Path{
				Index:     j,
				Bandwidth: rapid.SampledFrom([]int{0, 10, 1000, 1 << 30}).Draw(t, "path bandwidth"),
				Latency:   time.Duration(rapid.IntRange(0, 3).Draw(t, "path latency")),
			})
		}
		offers = append(offers, o)
	}
	return offers
}

func TestPickProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offers := drawOffers(t)
		c, err := Pick(0, peer3, offers)

		best, served := highestExclusivity(offers)
		require.Equal(t, served, err == nil, "it fails only when nobody serves")
		if err != nil {
			return
		}
		want := 0
		for _, o := range offers {
			if o.serves() && o.Module.Attr().Exclusivity == best {
				want += len(o.Paths)
			}
			assert.True(t, mentioned(c.Reasons, o.name()), "%s is not explained", o.name())
		}
		require.Len(t, c.Rails, want, "every path of the highest exclusivity serves")

		sum := 0.0
		for i, r := range c.Rails {
			sum += r.Weight
			assert.Positive(t, r.Weight)
			assert.Equal(t, best, r.Attr.Exclusivity)
			if i > 0 && r.Latency > 0 {
				assert.LessOrEqual(t, c.Rails[i-1].Latency, r.Latency)
				assert.Positive(t, c.Rails[i-1].Latency, "an unknown latency goes last")
			}
			for _, s := range c.Rails {
				if r.Bandwidth > s.Bandwidth && s.Bandwidth > 0 {
					assert.InDelta(t, float64(r.Bandwidth)/float64(s.Bandwidth), r.Weight/s.Weight, 1e-3*float64(r.Bandwidth))
				}
			}
		}
		assert.InDelta(t, 1, sum, 1e-9)
	})
}

// Whatever a module says of its paths, each has a share, and together they are the whole.
func TestSharesBearAnyOpinion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offers := drawOffers(t)
		for _, o := range offers {
			for i := range o.Paths {
				o.Paths[i].Bandwidth = rapid.SampledFrom([]int{-1, 0, 1, 1000, math.MaxInt}).Draw(t, "bandwidth of a path")
				o.Paths[i].Weight = rapid.SampledFrom([]float64{
					0, -1, 1, 100, 1e9, math.SmallestNonzeroFloat64, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1),
				}).Draw(t, "weight of a path")
			}
		}
		c, err := Pick(0, peer3, offers)
		if err != nil {
			return
		}
		sum := 0.0
		for _, r := range c.Rails {
			require.Positive(t, r.Weight)
			sum += r.Weight
		}
		require.InDelta(t, 1, sum, 1e-9)
	})
}

// The order in which modules were asked changes nothing.
func TestPickIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offers := drawOffers(t)
		shuffled := rapid.Permutation(offers).Draw(t, "order")
		a, errA := Pick(0, peer3, offers)
		b, errB := Pick(0, peer3, shuffled)
		assert.Equal(t, a, b)
		assert.Equal(t, errA, errB)
	})
}

func mentioned(reasons []string, name string) bool {
	for _, r := range reasons {
		if strings.HasPrefix(r, name) {
			return true
		}
	}
	return false
}

// A path that only the peer knew finds its place by latency and its share by
// bandwidth, as if it had been chosen.
func TestJoin(t *testing.T) {
	o := offer("tcp", 10,
		btl.Path{Index: 0, Desc: "eth0", Bandwidth: 1000},
		btl.Path{Index: 1, Desc: "eth1", Bandwidth: 1000, Latency: time.Second})
	before, err := Pick(0, peer3, []Offer{o})
	require.NoError(t, err)
	c := before
	at := c.Join(Offer{Module: o.Module, Paths: []btl.Path{{Index: 2, Desc: "eth2", Bandwidth: 100, Latency: time.Millisecond}}}, "the peer has connected")
	require.Equal(t, 1, at)
	require.Len(t, c.Rails, 3)
	assert.Equal(t, "eth2", c.Rails[1].Path.Desc)
	assert.InDelta(t, 100.0/2100, c.Rails[1].Weight, 1e-9)
	assert.InDelta(t, 1000.0/2100, c.Rails[0].Weight, 1e-9)
	assert.Equal(t, "the peer has connected", c.Reasons[len(c.Reasons)-1])
	assert.Len(t, before.Rails, 2, "the choice that was there is as it was")
	assert.InDelta(t, 0.5, before.Rails[0].Weight, 1e-9)

	var none Choice
	require.Zero(t, none.Join(Offer{Module: o.Module, Paths: []btl.Path{{}}}, "the peer has connected"))
	assert.Equal(t, 1000, none.Rails[0].Bandwidth, "the module's, for want of the path's own")
	assert.InDelta(t, 1, none.Rails[0].Weight, 1e-9)
}
