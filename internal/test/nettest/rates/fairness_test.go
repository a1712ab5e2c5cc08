//go:build linux

package rates_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// spanVariable tells bulky how many seconds to send.
const spanVariable = "BULKY_SECONDS"

// What bulky sends: messages of so many bytes, so many of them under way. It is more than the bottlenecks here and their
// queues hold.
const (
	bulkyMessage = 256 << 10
	bulkyWindow  = 16
)

// bulky has all ranks but 0 send to rank 0 as fast as they can, for some seconds. Rank 0 tells when that begins, each second
// how many bytes it has of each of them since, and then that it is over.
func bulky(ctx context.Context, w *strand.World) error {
	seconds, err := strconv.Atoi(os.Getenv(spanVariable))
	if err != nil {
		return err
	}
	c := w.Comm()
	if c.Rank() > 0 {
		return pour(ctx, c, seconds)
	}
	for peer := 1; peer < c.Size(); peer++ { // all are connected
		if _, err := c.Recv(ctx, nil, peer, controlTag); err != nil {
			return err
		}
	}
	counts := make([]atomic.Int64, c.Size())
	errs := make([]error, c.Size())
	var all sync.WaitGroup
	for peer := 1; peer < c.Size(); peer++ {
		all.Go(func() { errs[peer] = drain(ctx, c, peer, &counts[peer]) })
	}
	fmt.Println(bulkyBegins)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for range seconds {
		<-tick.C
		line := bulkyHas
		for peer := 1; peer < c.Size(); peer++ {
			line += fmt.Sprint(" ", counts[peer].Load())
		}
		fmt.Println(line)
	}
	fmt.Println(bulkyEnds)
	all.Wait()
	for peer, err := range errs {
		if err != nil {
			return fmt.Errorf("from %d: %w", peer, err)
		}
	}
	return nil
}

// What rank 0 of bulky says.
const (
	bulkyBegins = "it begins"
	bulkyHas    = "bytes:"
	bulkyEnds   = "it ends"
)

// pour sends for some seconds, and then empty messages, as many as drain waits for.
func pour(ctx context.Context, c *strand.Comm, seconds int) error {
	if err := c.Send(ctx, nil, 0, controlTag); err != nil {
		return err
	}
	var under [bulkyWindow]strand.Request
	buf := make([]byte, bulkyMessage)
	until := time.Now().Add(time.Duration(seconds+1) * time.Second)
	for i := 0; time.Now().Before(until); i = (i + 1) % bulkyWindow {
		_, err := under[i].Wait(ctx)
		if err == nil {
			under[i], err = c.Isend(buf, 0, 1)
		}
		if err != nil {
			return err
		}
	}
	if err := strand.WaitAll(ctx, under[:], nil); err != nil {
		return err
	}
	for range bulkyWindow {
		if err := c.Send(ctx, nil, 0, 1); err != nil {
			return err
		}
	}
	return nil
}

// drain receives until as many empty messages have come.
func drain(ctx context.Context, c *strand.Comm, peer int, count *atomic.Int64) (err error) {
	var under [bulkyWindow]strand.Request
	buf := make([]byte, bulkyMessage) // nobody looks at it
	for i := range under {
		if under[i], err = c.Irecv(buf, peer, 1); err != nil {
			return err
		}
	}
	for i, empty := 0, 0; empty < bulkyWindow; i = (i + 1) % bulkyWindow {
		st, err := under[i].Wait(ctx)
		if err != nil {
			return err
		}
		if st.Count == 0 {
			empty++
			continue
		}
		count.Add(int64(st.Count))
		if under[i], err = c.Irecv(buf, peer, 1); err != nil {
			return err
		}
	}
	return nil
}

// A packetCase is a transport that does itself what a kernel does for TCP.
type packetCase struct {
	name, component string
	env             []string
}

// A narrow is a bottleneck: the way into host 0 of a network. Its queue holds as much as is on its way when it is full.
type narrow struct {
	mbits int
	trip  time.Duration // without the queue
}

func (b narrow) rate() emulate.Rate { return emulate.Rate(b.mbits) * emulate.Mbit }

// frame is how long a full frame takes through it. Each takes so much more or less on its way, at random: packets of two flows
// would otherwise come to the queue at the same time of each turn of it for long, and always the same flow's would find it
// full (Floyd and Jacobson, On Traffic Phase Effects in Packet-Switched Gateways, 1992).
func (b narrow) frame() time.Duration {
	return time.Duration(float64(emulate.DefaultMTU+emulate.EthernetHeader) * 8 / float64(b.rate()) * float64(time.Second))
}

// build joins hosts by it, of which host 0 receives.
func (b narrow) build(t *testing.T, hosts int) *network.Network {
	t.Helper()
	testnet.New(t) // or skip
	nics := make([]emulate.NIC, hosts)
	nics[0] = emulate.NIC{Rate: b.rate(), Queue: emulate.Queue{Bytes: int(float64(b.rate()) / 8 * b.trip.Seconds())}}
	n, err := network.New(network.Config{
		Hosts: hosts, Seed: 1, Backend: network.UserSpace, NICs: nics,
		Between: func(int, int) emulate.Path { return emulate.Path{Delay: b.trip / 2, Jitter: b.frame()} },
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		report, err := n.Close()
		assert.NoError(t, err)
		for _, p := range report.Paths() {
			if p.DroppedIn > 0 {
				t.Logf("host %d: %d of %d frames found the queue full", p.From, p.DroppedIn, p.Sent)
			}
		}
		if spoilt := report.Wire.Spoilt(); spoilt > 0 {
			t.Logf("%d frames were lost by this machine, and not by the bottleneck", spoilt)
		}
	})
	return n
}

// A kernelFlow is a connection of the kernel's TCP with CUBIC.
type kernelFlow struct {
	near, far *net.TCPConn
	has       atomic.Int64
}

// connectCubic connects two hosts by TCP with CUBIC, and counts what arrives once begin is called.
func connectCubic(t *testing.T, from, to *network.Host) *kernelFlow {
	t.Helper()
	var l *net.TCPListener
	require.NoError(t, to.Do(func() (err error) {
		l, err = net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.AddrPortFrom(to.Addr(), 0)))
		return err
	}))
	defer l.Close()
	k := new(kernelFlow)
	require.NoError(t, from.Do(func() error {
		c, err := net.DialTimeout("tcp4", l.Addr().String(), time.Minute)
		if err == nil {
			k.near = c.(*net.TCPConn)
		}
		return err
	}))
	var err error
	k.far, err = l.AcceptTCP()
	require.NoError(t, err)
	raw, err := k.near.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) {
		err = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic")
	}))
	require.NoError(t, err, "TCP with CUBIC")
	return k
}

// begin sends without end, until the test is over.
func (k *kernelFlow) begin(t *testing.T) {
	var both sync.WaitGroup
	t.Cleanup(func() {
		_, _ = k.near.Close(), k.far.Close()
		both.Wait()
	})
	both.Go(func() {
		for buf := make([]byte, 64<<10); ; {
			if _, err := k.near.Write(buf); err != nil {
				return
			}
		}
	})
	both.Go(func() {
		for buf := make([]byte, 64<<10); ; {
			n, err := k.far.Read(buf)
			if err != nil {
				return
			}
			k.has.Add(int64(n))
		}
	})
}

// shares are what so many flows of a transport have had of a bottleneck, in bytes, and at the end of them what a flow of the
// kernel's TCP had beside them, if there was one.
func (b narrow) shares(t *testing.T, p packetCase, ours int, kernel bool, seconds int) (sums []int64) {
	t.Helper()
	n := b.build(t, 3)
	places := [][]string{n.Host(0).Prefix()}
	for range ours {
		places = append(places, n.Host(1).Prefix())
	}
	var k *kernelFlow
	if kernel {
		k = connectCubic(t, n.Host(2), n.Host(0))
	}
	job := nettest.Job{Prefixes: places}.Playing("bulky", fmt.Sprintf("%s=%d", spanVariable, seconds))
	job.Env = append(job.Env, p.env...)
	r := job.Start(t)
	r.Await(0, bulkyBegins)
	if kernel {
		k.begin(t)
	}
	r.Await(0, bulkyEnds)
	if kernel {
		defer func() { sums = append(sums, k.has.Load()) }()
	}
	for _, line := range r.Lines(0) {
		text, ok := strings.CutPrefix(line.Text, bulkyHas)
		if !ok {
			continue
		}
		sums = sums[:0]
		for _, field := range strings.Fields(text) {
			v, err := strconv.ParseInt(field, 10, 64)
			require.NoError(t, err)
			sums = append(sums, v)
		}
	}
	require.Len(t, sums, ours, "%s", r)
	require.NoError(t, r.Wait())
	return sums
}

// jain is Jain's index: 1 where all have as much, and a part of n where one of n has all.
func jain(values []int64) float64 {
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum, squares = sum+float64(v), squares+float64(v)*float64(v)
	}
	return sum * sum / float64(len(values)) / squares
}

// cubics are the transports of packets with CUBIC.
var cubics = []packetCase{
	{"udp", "udp", []string{"STRAND_BTL=udp,self", "STRAND_BTL_UDP_CONGESTION=cubic"}},
	{"sctp", "sctp", []string{"STRAND_BTL=sctp,self", "STRAND_BTL_SCTP_STACK=user", "STRAND_BTL_SCTP_CONGESTION=cubic", "STRAND_BTL_SCTP_OUTSTANDING=4M"}},
}

// A flow beside one of the kernel's TCP has between half and twice what that has, and eight flows beside each other have
// about as much each. The short form shows that one flow does not keep the other from everything, and no more, since the
// machine may be busy; package recovery has flows that share in virtual time.
func TestFairness(t *testing.T) {
	const mbits, seconds = 40, 60
	if !need.Soaking() {
		t.Parallel()
		for i, v := range (narrow{mbits, 10 * time.Millisecond}).shares(t, cubics[0], 1, true, 2) {
			assert.Positive(t, v, "flow %d", i)
		}
		return
	}
	for _, p := range cubics {
		for _, trip := range []time.Duration{10 * time.Millisecond, 40 * time.Millisecond, 80 * time.Millisecond} {
			b := narrow{mbits, trip}
			t.Run(fmt.Sprintf("%s, %v", p.name, trip), func(t *testing.T) {
				sums := b.shares(t, p, 1, true, seconds)
				share := float64(sums[0]) / float64(sums[1])
				t.Logf("%.2f Mbit/s beside %.2f of the kernel's: %.2f times", inMegabits(sums[0], seconds), inMegabits(sums[1], seconds), share)
				assert.GreaterOrEqual(t, share, 0.5)
				assert.LessOrEqual(t, share, 2.0)
			})
			t.Run(fmt.Sprintf("eight of %s, %v", p.name, trip), func(t *testing.T) {
				sums := b.shares(t, p, 8, false, seconds)
				all := int64(0)
				for _, v := range sums {
					all += v
				}
				t.Logf("%.2f to %.2f Mbit/s, together %.2f: Jain's index %.3f", inMegabits(slices.Min(sums), seconds),
					inMegabits(slices.Max(sums), seconds), inMegabits(all, seconds), jain(sums))
				assert.GreaterOrEqual(t, jain(sums), 0.95)
			})
		}
	}
}

func inMegabits(bytes int64, seconds int) float64 {
	return megabits(int(bytes), time.Duration(seconds)*time.Second)
}
