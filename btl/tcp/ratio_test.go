package tcp

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
)

// BenchmarkAgainstRaw compares the half round trip with that of two spinning
// sockets, between two processes, in short blocks that alternate. What it
// reports is the lower quartile of the blocks and the ratio of the quartiles.
func BenchmarkAgainstRaw(b *testing.B) {
	for _, size := range []int{8, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			const blocks = 24
			iters := max(8, min(2000, (16<<20)/max(size, 4096)))
			n := newNode(b, 0, 2, set(pMaxFrag, "16M"))
			l, err := rawio.Listen(netip.MustParseAddrPort("127.0.0.1:0"), 1)
			require.NoError(b, err)
			cmd := exec.Command(os.Args[0], "-test.run=TestRatioPeer")
			cmd.Env = append(os.Environ(), "STRAND_RATIO_PEER="+hex.EncodeToString(n.mod.Address()),
				"STRAND_RATIO_RAW="+rawio.LocalAddr(l).String(),
				fmt.Sprintf("STRAND_RATIO_SIZE=%d", size), fmt.Sprintf("STRAND_RATIO_ITERS=%d", iters), fmt.Sprintf("STRAND_RATIO_BLOCKS=%d", blocks))
			cmd.Stderr = os.Stderr
			require.NoError(b, cmd.Start())
			n.until("the peer", func() bool { return len(n.accepted) > 0 && n.accepted[0].ups > 0 })
			raw := acceptRaw(b, l)
			s := newSide(n, n.accepted[0].ep, size)
			buf := make([]byte, size)
			var rawTimes, ourTimes []float64
			n.engine.Lock()
			for range blocks {
				rawTimes = append(rawTimes, timed(iters, func() { rawSend(&raw, buf); rawRecv(&raw, buf) }))
				ourTimes = append(ourTimes, timed(iters, func() { s.exchange(0); s.recv(1) }))
			}
			n.engine.Unlock()
			require.NoError(b, cmd.Wait())
			slices.Sort(rawTimes)
			slices.Sort(ourTimes)
			rawQ, ourQ := rawTimes[blocks/4], ourTimes[blocks/4]
			b.ReportMetric(rawQ, "raw-µs")
			b.ReportMetric(ourQ, "µs")
			b.ReportMetric(ourQ/rawQ, "ratio")
			b.ReportMetric(ourTimes[0]/rawTimes[0], "ratio-of-best")
			b.ReportMetric(float64(s.ep.counters.SendCalls)/float64(blocks*iters), "sends")
			b.ReportMetric(float64(s.ep.counters.ReceiveCalls)/float64(blocks*iters), "recvs")
		})
	}
}

// timed returns half the time of one round in µs.
func timed(iters int, round func()) float64 {
	for range iters/10 + 1 {
		round()
	}
	start := time.Now()
	for range iters {
		round()
	}
	return float64(time.Since(start).Nanoseconds()) / float64(iters) / 2000
}

// TestRatioPeer is the other process of BenchmarkAgainstRaw, and nothing if run
// by itself.
func TestRatioPeer(t *testing.T) {
	address := os.Getenv("STRAND_RATIO_PEER")
	if address == "" {
		return
	}
	number := func(name string) int {
		n, err := strconv.Atoi(os.Getenv(name))
		require.NoError(t, err)
		return n
	}
	size, iters, blocks := number("STRAND_RATIO_SIZE"), number("STRAND_RATIO_ITERS"), number("STRAND_RATIO_BLOCKS")
	blob, err := hex.DecodeString(address)
	require.NoError(t, err)
	n := newNode(t, 1, 2, set(pMaxFrag, "16M"))
	p := n.reachAddress(0, blob)
	p.connected()
	raw := connectRaw(t, netip.MustParseAddrPort(os.Getenv("STRAND_RATIO_RAW")))
	s := newSide(n, p.ep, size)
	buf := make([]byte, size)
	n.engine.Lock()
	defer n.engine.Unlock()
	for range blocks {
		timed(iters, func() { rawRecv(&raw, buf); rawSend(&raw, buf) })
		timed(iters, func() { s.recv(1); s.exchange(0) })
	}
	if left := s.ep.Queued(); left != 0 {
		t.Errorf("%d bytes queued", left)
	}
}

func connectRaw(t testing.TB, to netip.AddrPort) rawio.Conn {
	c, err := rawio.Stream(to)
	require.NoError(t, err)
	_, err = rawio.Connect(c, netip.Addr{}, to)
	require.NoError(t, err)
	return prepareRaw(t, c)
}

func acceptRaw(t testing.TB, l int) rawio.Conn {
	for {
		if fd, _, err := rawio.Accept(l); err == nil {
			rawio.Close(l)
			return prepareRaw(t, fd)
		}
	}
}

func prepareRaw(t testing.TB, fd int) rawio.Conn {
	require.NoError(t, rawio.SetNoDelay(fd, true))
	_ = rawio.SetCongestion(fd, "cubic")
	t.Cleanup(func() { rawio.Close(fd) })
	return rawio.NewConn(fd)
}

func newSide(n *node, ep *endpoint, size int) *side {
	s := &side{n: n, ep: ep, ctx: context.Background(), sink: &sink{buf: make([]byte, size)}}
	s.f = btl.Frame{Header: make([]byte, 32), Payload: make([]byte, size), Size: size}
	n.do(func() { ep.Recv = s.sink })
	return s
}
