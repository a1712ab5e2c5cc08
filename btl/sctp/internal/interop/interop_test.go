package interop

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/test/need"
)

// A peer runs the service of service_test.go, on somebody else's SCTP, for one association.
type peer interface {
	name() string
	// lacks says what it does not have.
	lacks(weOpen bool) lack
	// need skips the test if the peer can not be had.
	need(t testing.TB)
	// encap is the UDP port that it has as a kernel (RFC 6951); 0: it has one of its process.
	encap() int
	// listen waits for an association, and returns at which port of UDP's.
	listen(t testing.TB, at place) uint16
	// open makes one with whoever is at some addresses, all at one port. What it returns ends the peer, without a word if it can.
	open(t testing.TB, at place, to ...netip.AddrPort) (kill func())
	// most is how many bytes each way, with loss, there is time for; 0: as many as with any.
	most() int
	// lastWord is the chunk that it can not but send when it is killed; 0: there is none.
	lastWord() byte
}

// A place is where a peer is.
type place struct {
	host  host // nil: here
	addrs []netip.Addr
}

// A host has a network of its own.
type host interface {
	Do(f func() error) error // with sockets of that network
	Prefix() []string        // of a command line there
	Sysctl(name, value string)
}

// near is behind the relay.
var near = place{addrs: []netip.Addr{loopback}}

// meet makes an association through a relay.
func meet(t testing.TB, kind string, p peer, weOpen bool, change ...func(*stack.Config)) (*party, *relay) {
	s := openSide(t, kind, nil, append(change, forPeer(p))...)
	if weOpen {
		r := newRelay(t, netip.AddrPort{}, netip.AddrPortFrom(loopback, p.listen(t, near)))
		return call(s, r), r
	}
	r := newRelay(t, s.at(), netip.AddrPort{})
	p.open(t, near, r.forPeer())
	return s.comes(), r
}

// forPeer has our stack expect a kernel, if the peer is one, which it offers no I-DATA.
func forPeer(p peer) func(*stack.Config) {
	return func(c *stack.Config) {
		c.EncapPort = p.encap()
		c.Interleave = c.Interleave && c.EncapPort == 0
	}
}

// call makes an association with the peer behind the relay.
func call(s *side, r *relay) *party {
	return s.call(stack.Pair{Local: loopback, Remote: netip.AddrPortFrom(loopback, port(r.ours)), Nearby: true})
}

func (s *side) call(pairs ...stack.Pair) *party {
	us := &party{side: s}
	var err error
	us.a, err = s.Associate(stack.Route{Pairs: pairs}, us)
	require.NoError(s.t, err)
	s.until("an association", func() bool { return us.up || us.down != nil })
	require.NoError(s.t, us.down)
	us.a.Trust()
	return us
}

// comes waits for one more association that the peer has begun.
func (s *side) comes() *party {
	before := len(s.accepted)
	s.until("the peer", func() bool { return len(s.accepted) > before })
	return s.accepted[before]
}

// Every feature with every peer, in both roles.
func TestTable(t *testing.T) {
	need.CI(t, "it takes some seconds")
	play(t, features, peers...)
}

// The same in short.
func TestPeers(t *testing.T) { play(t, features[:1], peers...) }

func play(t *testing.T, features []feature, peers ...peer) {
	var table strings.Builder
	line := func(cells ...string) { fmt.Fprintf(&table, "| %s |\n", strings.Join(cells, " | ")) }
	head := []string{"ours", "peer", "who opens"}
	for _, f := range features {
		head = append(head, f.name)
	}
	line(head...)
	line(slices.Repeat([]string{"---"}, len(head))...)
	for kind := range stacks {
		for _, p := range peers {
			for _, weOpen := range []bool{true, false} {
				line(row(t, features, kind, p, weOpen)...)
			}
		}
	}
	t.Log("\n" + table.String())
}

// row plays every feature with a peer in one role.
func row(t *testing.T, features []feature, kind string, p peer, weOpen bool) []string {
	who := "the peer"
	if weOpen {
		who = "we"
	}
	cells := []string{kind, p.name(), who}
	t.Run(strings.Join(cells, "/"), func(t *testing.T) {
		p.need(t)
		for _, f := range features {
			cells = append(cells, cell(t, f, kind, p, weOpen))
		}
	})
	return cells
}

// cell plays a feature, and says what came of it.
func cell(t *testing.T, f feature, kind string, p peer, weOpen bool) string {
	if why := p.lacks(weOpen)[f.name]; why != "" {
		return "n/a: " + why
	}
	result := "not tried" // -run does not want it
	passed := t.Run(f.name, func(t *testing.T) {
		result = "skipped"
		result = cmp.Or(f.play(t, kind, p, weOpen), "ok")
	})
	if !passed {
		return "FAILED"
	}
	return result
}

// peers are those that run anywhere.
var peers = []peer{pion{}, &usrsctp{}}
