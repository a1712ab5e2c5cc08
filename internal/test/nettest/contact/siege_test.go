//go:build linux

package contact_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/flood"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// siegeVariable names the pipe that tells a late rank to begin.
const siegeVariable = "SIEGE"

const siegePort = 7100

// late has rank 1 make contact with rank 0 when it is told to, and say how long that took.
func late(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	b := make([]byte, 8)
	if c.Rank() == 0 {
		fmt.Println("here")
		if _, err := c.Recv(ctx, b, 1, 1); err != nil {
			return err
		}
		return c.Send(ctx, b, 1, 2)
	}
	if _, err := os.ReadFile(os.Getenv(siegeVariable)); err != nil {
		return err
	}
	start := time.Now()
	if err := c.Send(ctx, b, 0, 1); err != nil {
		return err
	}
	if _, err := c.Recv(ctx, b, 0, 2); err != nil {
		return err
	}
	fmt.Println("contact after:", time.Since(start))
	return nil
}

// A third host floods the one that a member wants to reach, which lets the member in at once.
func TestMemberAmongFloodOfAnotherHost(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		env   []string
		crowd int64 // more than there are places
		flood func(t *testing.T, from *testnet.Host, to netip.AddrPort) (made func() int64, end func())
	}{
		"tcp": {[]string{"STRAND_BTL_TCP_PORT_MIN=7100"}, 1100, func(_ *testing.T, from *testnet.Host, to netip.AddrPort) (func() int64, func()) {
			f := flood.NewTCPBy(func() (c net.Conn, err error) {
				err = from.Do(func() (err error) { c, err = net.DialTimeout("tcp", to.String(), 2*time.Second); return err })
				return c, err
			}, 4000, nil)
			return f.Made.Load, f.End
		}},
		"sctp": {[]string{"STRAND_BTL=self,sctp", "STRAND_BTL_SCTP_STACK=user", "STRAND_BTL_SCTP_PORT_MIN=7100"}, 300, func(t *testing.T, from *testnet.Host, to netip.AddrPort) (func() int64, func()) {
			var c net.PacketConn
			require.NoError(t, from.Do(func() (err error) { c, err = net.ListenPacket("udp4", ":0"); return err }))
			f := flood.NewSCTP(to, 4000, c)
			return f.Made.Load, f.End
		}},
		"udp": {[]string{"STRAND_BTL=self,udp", "STRAND_BTL_UDP_PORT_MIN=7100"}, 1100, func(t *testing.T, from *testnet.Host, to netip.AddrPort) (func() int64, func()) {
			var c net.PacketConn
			require.NoError(t, from.Do(func() (err error) { c, err = net.ListenPacket("udp4", ":0"); return err }))
			f := flood.NewUDP(to, 4000, c)
			return f.Made.Load, f.End
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, a, b := nettest.Hosts(t)
			n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
			c := n.Host("c")
			door := n.Link(a, c, testnet.Subnet("10.2.0.0/24"))
			for range need.Times(1, 20) {
				pipe := filepath.Join(t.TempDir(), "pipe")
				require.NoError(t, syscall.Mkfifo(pipe, 0o600))
				r := nettest.Play("late", []*testnet.Host{a, b}, append(test.env, siegeVariable+"="+pipe)...).Start(t)
				r.Await(0, "here")
				made, end := test.flood(t, c, netip.AddrPortFrom(door.A.Addr(0), siegePort))
				tick := time.NewTicker(time.Millisecond)
				for deadline := time.Now().Add(30 * time.Second); made() < test.crowd; <-tick.C {
					require.True(t, time.Now().Before(deadline), "%d strangers", made())
				}
				tick.Stop()
				require.NoError(t, os.WriteFile(pipe, []byte("go"), 0))
				took, err := time.ParseDuration(strings.TrimPrefix(r.Await(1, "contact after: ").Text, "contact after: "))
				require.NoError(t, err)
				t.Logf("in after %v", took)
				require.Less(t, took, soonContact)
				end()
				require.NoError(t, r.Wait())
			}
		})
	}
}
