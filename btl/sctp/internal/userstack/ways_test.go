package userstack

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/test/leak"
)

// party notes what becomes of an association.
type party struct {
	stack.Handler
	up   bool
	down error
}

func (p *party) Up()            { p.up = true }
func (p *party) Down(err error) { p.down = err }

// opened is a stack at the loopback, and its engine, which the test drives.
func opened(t *testing.T, accept func(stack.Association) stack.Handler) (*Stack, *engine.Engine) {
	e, err := engine.New(engine.Options{})
	require.NoError(t, err)
	e.Lock()
	s, err := Open(stack.Config{Loop: e, Local: []netip.Addr{netip.MustParseAddr("127.0.0.1")}, Accept: accept,
		Room: func(netip.AddrPort) bool { return true }, Warn: func(netip.AddrPort, error) {},
		Tuning: stack.Tuning{Streams: 2, MaxMessage: 1 << 16, Outstanding: 1 << 20, ReceiveBuffer: 1 << 20, MTU: 1400, LoopbackMTU: 1400,
			RTOInitial: time.Second, RTOMax: time.Minute, ConnectTimeout: 20 * time.Second}})
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = s.Close()
		e.Unlock()
		e.Close()
	})
	return s, e
}

// If the first pair of addresses leads nowhere the next is tried: at once if the network says so,
// a moment later if it says nothing. If none is answered, the association ends.
func TestAllWaysAreTried(t *testing.T) {
	leak.Check(t)
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	mute := silent.LocalAddr().(*net.UDPAddr).AddrPort()
	closed := netip.MustParseAddrPort("127.0.0.77:9")
	for name, dead := range map[string][]netip.AddrPort{
		"silent": {mute}, "refused": {closed}, "both": {mute, closed, closed}, "only refused": {closed, closed},
	} {
		t.Run(name, func(t *testing.T) {
			var accepted stack.Association
			there, f := opened(t, func(a stack.Association) stack.Handler { accepted = a; return &party{} })
			here, e := opened(t, nil)
			var r stack.Route
			for _, to := range dead {
				r.Pairs = append(r.Pairs, stack.Pair{Remote: to})
			}
			if name != "only refused" {
				r.Pairs = append(r.Pairs, stack.Pair{Remote: netip.AddrPortFrom(there.sockets[0].local.Addr(), there.Port()), Nearby: true})
			}
			us := new(party)
			a, err := here.Associate(r, us)
			require.NoError(t, err)
			for deadline := time.Now().Add(10 * time.Second); !us.up && us.down == nil; {
				require.True(t, time.Now().Before(deadline))
				e.Poll(nil)
				f.Poll(nil)
			}
			if name == "only refused" {
				require.Error(t, us.down)
				return
			}
			require.NoError(t, us.down)
			require.NotNil(t, accepted)
			require.Equal(t, there.Port(), a.Remote().Port())
			require.Equal(t, here.Port(), accepted.Remote().Port())
			require.Len(t, here.byTag, 1)
			require.Len(t, there.byTag, 1)
		})
	}
}
