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

var packets = []packetCase{
	{"udp", "udp", []string{"STRAND_BTL=udp,self"}},
	{"sctp, CMT", "sctp", []string{"STRAND_BTL=sctp,self", "STRAND_BTL_SCTP_STACK=user", "STRAND_BTL_SCTP_CMT=true", "STRAND_BTL_SCTP_CONGESTION=cubic"}},
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
	{[]float64{1, 0.4}, 10 * time.Millisecond, 0.9},
	{[]float64{1, 1}, 40 * time.Millisecond, 0.95},
	{[]float64{1, 0.4}, 40 * time.Millisecond, 0.9},
}

// far joins two hosts by emulated links.
func far(t *testing.T, c farCase, unit int) *network.Network {
	t.Helper()
	testnet.New(t) // or skip
	config := network.Config{Hosts: 2, Seed: 1, Backend: network.UserSpace}
	for i, s := range c.speeds {
		link := emulate.Link{NIC: emulate.NIC{Rate: emulate.Rate(s*float64(unit)) * emulate.Mbit}, Path: emulate.Path{Delay: c.delay}}
		config.Nets = append(config.Nets, network.Net{Name: fmt.Sprint(i), Link: link})
	}
	n, err := network.New(config)
	require.NoError(t, err)
	return n
}

// over takes the network down, and returns what it has carried of rank 0's, link by link, in bytes.
func over(t *testing.T, n *network.Network) (carried []uint64) {
	t.Helper()
	report, err := n.Close()
	assert.NoError(t, err)
	if spoilt := report.Wire.Spoilt(); spoilt > 0 {
		t.Logf("%d frames were lost by this machine, and not by the links", spoilt)
	}
	for _, net := range report.Nets {
		sum := uint64(0)
		for _, p := range net.Paths {
			if p.From == 0 {
				sum += p.DeliveredBytes
			}
		}
		carried = append(carried, sum)
	}
	return carried
}

// farRate is what a transport carries over some of the interfaces of two hosts, all or one, in Mbit/s.
func farRate(t *testing.T, n *network.Network, env []string, name, only string, f flow, bytes int) float64 {
	t.Helper()
	flows := []flow{{64 << 10, 16, 1}, f} // by the first one rates become known
	job := nettest.Job{Prefixes: [][]string{n.Host(0).Prefix(), n.Host(1).Prefix()}}.Playing("flowing",
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
// messages under way are at least twice what the links hold. The short form, for machines that are busy, shows no more than
// that both of them are used.
func TestFarLinksTogether(t *testing.T) {
	for _, p := range packets {
		t.Run(p.name, func(t *testing.T) {
			if !need.Soaking() {
				t.Parallel()
				n := far(t, farCases[1], 40)
				farRate(t, n, p.env, p.component, "", flow{64 << 10, 8, 1}, 500_000)
				for i, bytes := range over(t, n) {
					assert.Greater(t, bytes, uint64(100_000), "link %d", i)
				}
				return
			}
			for _, c := range farCases {
				v, sum := p.together(t, c, 100, flow{4 << 20, 4, 1}, 10)
				assert.GreaterOrEqual(t, v, c.least*sum, "%v", c)
			}
		})
	}
}

// Over a long way udp is not bounded by its socket's buffer, of which most users have no more than Linux's usual 208 KB: half of that a
// round trip would be a quarter of what this link carries. In a soak it has nearly all.
func TestFarWithUsualBuffers(t *testing.T) {
	t.Parallel()
	// Slow, so that a machine that is busy has time for the packets, and far, so that the link holds as much. One good attempt is enough there.
	mbits, delay, least, attempts := 20, 80*time.Millisecond, 0.45, 4
	if need.Soaking() {
		mbits, delay, least, attempts = 100, 40*time.Millisecond, 0.85, 1
	}
	n := far(t, farCase{speeds: []float64{1}, delay: delay}, mbits)
	defer over(t, n)
	env := append([]string{"STRAND_BTL_UDP_RCVBUF=208K", "STRAND_BTL_UDP_SNDBUF=208K"}, packets[0].env...)
	best := 0.0
	for ; attempts > 0 && best < least*float64(mbits); attempts-- {
		v := farRate(t, n, env, "udp", "", flow{1 << 20, 8, 1}, mbits*1e6/8*2)
		t.Logf("%.1f of %d Mbit/s", v, mbits)
		best = max(best, v)
	}
	assert.GreaterOrEqual(t, best, least*float64(mbits))
}

// together is what links carry together, and the sum of what they carry alone, for about so many seconds each, in Mbit/s.
func (p packetCase) together(t *testing.T, c farCase, unit int, f flow, seconds float64) (v, sum float64) {
	t.Helper()
	n := far(t, c, unit)
	defer over(t, n)
	all := 0
	in := func(mbits int) int { return int(seconds * float64(mbits) * 1e6 / 8) }
	var alone []float64
	for i, s := range c.speeds {
		mbits := int(s * float64(unit))
		all += mbits
		one := farRate(t, n, p.env, p.component, fmt.Sprintf("eth%d", i), f, in(mbits))
		alone = append(alone, one)
		sum += one
	}
	require.GreaterOrEqual(t, float64(f.window*f.size), 2*float64(all)*1e6/8*2*c.delay.Seconds(), "bytes under way")
	v = farRate(t, n, p.env, p.component, "", f, in(all))
	t.Logf("%v of %d Mbit/s, %v each way: alone %.1f, together %.1f: %.3f of the sum", c.speeds, unit, c.delay, alone, v, v/sum)
	return v, sum
}
