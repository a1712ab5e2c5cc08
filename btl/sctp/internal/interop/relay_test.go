package interop

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A relay stands between our stack and a peer, and loses some packets on both ways. Each side sends to a port
// of it.
type relay struct {
	ours, peers *net.UDPConn // what we send to, and what the peer sends to
	mu          sync.Mutex
	random      *rand.Rand
	lose        int // of 1000 packets
	us, peer    netip.AddrPort
	seen        map[byte]int // chunks that have passed, by their types: the first of each packet
	unsummed    int          // packets that had no checksum
	packets     int
	dropped     int
	cut         bool
	running     sync.WaitGroup
}

// newRelay makes one. Who is not known yet has to send first.
func newRelay(t testing.TB, us, peer netip.AddrPort) *relay {
	r := &relay{random: rand.New(rand.NewPCG(7, 7)), us: us, peer: peer, seen: make(map[byte]int)}
	r.ours, r.peers = socket(t, loopback), socket(t, beyond)
	r.running.Add(2)
	go r.pass(r.ours, r.peers, &r.us, &r.peer)
	go r.pass(r.peers, r.ours, &r.peer, &r.us)
	t.Cleanup(r.close)
	return r
}

// beyond is where peers see us: SCTP has the same port there as here.
var beyond = netip.AddrFrom4([4]byte{127, 0, 0, 2})

func socket(t testing.TB, at netip.Addr) *net.UDPConn {
	c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(at, 0)))
	require.NoError(t, err)
	_ = c.SetReadBuffer(4 << 20)
	_ = c.SetWriteBuffer(4 << 20)
	return c
}

func port(c *net.UDPConn) uint16 { return uint16(c.LocalAddr().(*net.UDPAddr).Port) }

func (r *relay) close() {
	_ = r.ours.Close()
	_ = r.peers.Close()
	r.running.Wait()
}

func (r *relay) pass(in, out *net.UDPConn, from, to *netip.AddrPort) {
	defer r.running.Done()
	b := make([]byte, 64<<10)
	for {
		n, origin, err := in.ReadFromUDPAddrPort(b)
		if err != nil {
			if origin.IsValid() || !closed(err) {
				continue // the network's answer to a packet
			}
			return
		}
		if there, pass := r.look(b[:n], origin, from, to); pass {
			_, _ = out.WriteToUDPAddrPort(b[:n], there)
		}
	}
}

// look notes what a packet is, and says whether it passes.
func (r *relay) look(b []byte, origin netip.AddrPort, from, to *netip.AddrPort) (there netip.AddrPort, pass bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*from = netip.AddrPortFrom(origin.Addr().Unmap(), origin.Port())
	r.packets++
	if len(b) > 12 {
		r.seen[b[12]]++
		if b[8]|b[9]|b[10]|b[11] == 0 {
			r.unsummed++
		}
	}
	if r.cut || r.random.IntN(1000) < r.lose {
		r.dropped++
		return there, false
	}
	return *to, to.IsValid()
}

// forPeer is where the peer finds us.
func (r *relay) forPeer() netip.AddrPort { return netip.AddrPortFrom(beyond, port(r.peers)) }

// silence loses every packet, or no more.
func (r *relay) silence(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = on
}

// set changes how many of 1000 packets are lost.
func (r *relay) set(lose int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lose = lose
}

// passed is how many packets began with a chunk of a type.
func (r *relay) passed(chunk byte) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[chunk]
}
