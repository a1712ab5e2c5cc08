//go:build linux

package rates_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// A packetCase is a transport that does itself what a kernel does for TCP.
type packetCase struct {
	name, component string
	env             []string
}

var packets = []packetCase{
	{"udp", "udp", []string{"STRAND_BTL=udp,self"}},
	{"sctp, CMT", "sctp", []string{"STRAND_BTL=sctp,self", "STRAND_BTL_SCTP_STACK=user", "STRAND_BTL_SCTP_CMT=true"}},
}

// A farCase is links of these speeds, in units, that take some time, and what part of what they carry alone
// they have to carry together.
type farCase struct {
	speeds []float64
	delay  time.Duration
	least  float64
}

var farCases = []farCase{
	{[]float64{1, 1}, 10 * time.Millisecond, 0.95},
	{[]float64{1, 0.25}, 10 * time.Millisecond, 0.9},
	{[]float64{1, 1}, 40 * time.Millisecond, 0.95},
	{[]float64{1, 0.25}, 40 * time.Millisecond, 0.9},
}

// far joins two hosts by emulated links.
func far(t *testing.T, c farCase, unit int) (hosts [][]string) {
	t.Helper()
	testnet.New(t) // or skip
	config := network.Config{Hosts: 2, Seed: 1, Backend: network.UserSpace}
	for i, s := range c.speeds {
		link := emulate.Link{NIC: emulate.NIC{Rate: emulate.Rate(s*float64(unit)) * emulate.Mbit}, Path: emulate.Path{Delay: c.delay}}
		config.Nets = append(config.Nets, network.Net{Name: fmt.Sprint(i), Link: link})
	}
	n, err := network.New(config)
	require.NoError(t, err)
	t.Cleanup(func() {
		report, err := n.Close()
		assert.NoError(t, err)
		if spoilt := report.Wire.Spoilt(); spoilt > 0 {
			t.Logf("%d frames were lost by this machine, and not by the links", spoilt)
		}
	})
	for _, h := range n.Hosts() {
		hosts = append(hosts, h.Prefix())
	}
	return hosts
}

// farRate is what a transport carries over some of the interfaces of two hosts, all or one, in Mbit/s.
func farRate(t *testing.T, hosts [][]string, env []string, name, only string, f flow, bytes int) float64 {
	t.Helper()
	flows := []flow{{64 << 10, 16, 1}, f} // by the first one rates become known
	job := nettest.Job{Prefixes: hosts}.Playing("flowing",
		fmt.Sprintf("%s=%s", flowsVariable, strings.ReplaceAll(formFlows(flows), "\n", " ")), fmt.Sprintf("%s=%d", bytesVariable, bytes))
	job.Env = append(job.Env, env...)
	if only != "" {
		job.Env = append(job.Env, fmt.Sprintf("STRAND_BTL_%s_IF_INCLUDE=%s", strings.ToUpper(name), only))
	}
	r := job.Run(t)
	require.NoError(t, r.Wait())
	var v float64
	_, err := fmt.Sscanf(r.Await(0, fmt.Sprintf("flow %v: ", f)).Text, fmt.Sprintf("flow %v: %%f", f), &v)
	require.NoError(t, err)
	return v
}

// Links that take their time carry together what each of them carries alone, over transports of packets. The
// messages under way are at least twice what the links hold. In the short form one good attempt of several is
// enough, and slow links: the machine may be busy.
func TestFarLinksTogether(t *testing.T) {
	if !need.Soaking() {
		need.CI(t, "it takes some seconds for each attempt")
	}
	for _, p := range packets {
		t.Run(p.name, func(t *testing.T) {
			if need.Soaking() {
				for _, c := range farCases {
					v, sum := p.together(t, c, 100, flow{4 << 20, 4, 1}, 10)
					assert.GreaterOrEqual(t, v, c.least*sum, "%v", c)
				}
				return
			}
			const attempts, part = 4, 0.8
			share := 0.0
			for range attempts {
				v, sum := p.together(t, farCases[1], 100, flow{128 << 10, 8, 1}, 0.3)
				if share = max(share, v/sum); share >= part*farCases[1].least {
					return
				}
			}
			assert.GreaterOrEqual(t, share, part*farCases[1].least)
		})
	}
}

// together is what links carry together, and the sum of what they carry alone, for about so many seconds each, in Mbit/s.
func (p packetCase) together(t *testing.T, c farCase, unit int, f flow, seconds float64) (v, sum float64) {
	t.Helper()
	hosts := far(t, c, unit)
	all := 0
	in := func(mbits int) int { return int(seconds * float64(mbits) * 1e6 / 8) }
	var alone []float64
	for i, s := range c.speeds {
		mbits := int(s * float64(unit))
		all += mbits
		one := farRate(t, hosts, p.env, p.component, fmt.Sprintf("eth%d", i), f, in(mbits))
		alone = append(alone, one)
		sum += one
	}
	require.GreaterOrEqual(t, float64(f.window*f.size), 2*float64(all)*1e6/8*2*c.delay.Seconds(), "bytes under way")
	v = farRate(t, hosts, p.env, p.component, "", f, in(all))
	t.Logf("%v of %d Mbit/s, %v each way: alone %.1f, together %.1f: %.3f of the sum", c.speeds, unit, c.delay, alone, v, v/sum)
	return v, sum
}
