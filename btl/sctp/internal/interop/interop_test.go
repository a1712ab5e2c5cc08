package interop

import (
	"bytes"
	"cmp"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/test/need"
)

// A peer runs the service of service_test.go, on somebody else's SCTP, for one association.
type peer interface {
	name() string
	// lacks says what it does not have.
	lacks() lack
	// need skips the test if the peer can not be had.
	need(t testing.TB)
	// listen waits for an association at an address.
	listen(t testing.TB) netip.AddrPort
	// open makes one with whoever is at an address. What it returns ends the peer without a word.
	open(t testing.TB, to netip.AddrPort) (kill func())
}

// meet makes an association through a relay.
func meet(t testing.TB, kind string, p peer, weOpen bool, change ...func(*stack.Config)) (*party, *relay) {
	s := openSide(t, kind, change...)
	if weOpen {
		r := newRelay(t, netip.AddrPort{}, p.listen(t))
		return call(s, r), r
	}
	r := newRelay(t, s.at(), netip.AddrPort{})
	p.open(t, netip.AddrPortFrom(beyond, port(r.peers)))
	return s.comes(), r
}

func call(s *side, r *relay) *party {
	us := &party{side: s}
	var err error
	us.a, err = s.Associate(stack.Route{Pairs: []stack.Pair{{Local: loopback, Remote: netip.AddrPortFrom(loopback, port(r.ours)), Nearby: true}}}, us)
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

// What is to be seen, in the order of the table.
type feature struct {
	name string
	play func(t testing.TB, kind string, p peer, weOpen bool) string // what is remarkable
}

var features = []feature{
	{"messages", messages},
	{"long ones", long},
	{"bulk", bulk},
	{"1% loss", loss},
	{"I-DATA", interleaving},
	{"zero checksum", zeroChecksum},
	{"multihoming", multihoming},
	{"failover", multihoming},
	{"they abort", theyAbort},
	{"we abort", weAbort},
	{"shutdown", shutdown},
	{"restart", restart},
}

// messages come back as they were sent, of all sizes, on all streams.
func messages(t testing.TB, kind string, p peer, weOpen bool) string {
	us, _ := meet(t, kind, p, weOpen)
	require.Equal(t, streams, us.a.Streams())
	echo(t, us, 1, 2, 3, 4, 5, 1000, 1352, 1353, 5000, 30_000)
	return ""
}

func long(t testing.TB, kind string, p peer, weOpen bool) string {
	us, _ := meet(t, kind, p, weOpen)
	echo(t, us, 64<<10, 200_000)
	return ""
}

func echo(t testing.TB, us *party, sizes ...int) {
	for i, size := range sizes {
		b := bytes.Repeat([]byte{askEcho}, size)
		for j := range b[1:] {
			b[1+j] = byte(i + j)
		}
		require.Equal(t, b, us.ask(uint16(i), b), "%d bytes", size)
	}
}

// total is how many bytes bulk and loss send each way.
func total() int {
	if text := os.Getenv("INTEROP_MB"); text != "" {
		n, _ := strconv.Atoi(text)
		return n << 20
	}
	switch {
	case need.Soaking():
		return 1 << 30
	case need.Thorough():
		return 4 << 20
	}
	return 1 << 20
}

const bulkSize = 50_000

func bulk(t testing.TB, kind string, p peer, weOpen bool) string {
	us, _ := meet(t, kind, p, weOpen)
	bothWays(us)
	return ""
}

// bothWays sends all and gets all.
func bothWays(us *party) {
	count := total() / bulkSize
	want, b := expected(count, bulkSize), make([]byte, bulkSize)
	for i := range count {
		fill(b, uint32(i))
		us.send(uint16(1+i%10), b)
	}
	var got tally
	us.side.until("all that was sent to be counted", func() bool {
		got = reported(us.ask(0, []byte{askReport}))
		return got.messages >= want.messages
	})
	require.Equal(us.side.t, want, got, "what the peer has counted")
	us.tally = tally{}
	us.send(0, generate(count, bulkSize, 10))
	us.side.until("all that the peer sends", func() bool { return us.messages >= want.messages || us.down != nil })
	require.NoError(us.side.t, us.down)
	require.Equal(us.side.t, want, us.tally, "what we have counted")
}

// loss is one packet of a hundred on each way.
func loss(t testing.TB, kind string, p peer, weOpen bool) string {
	us, r := meet(t, kind, p, weOpen)
	r.set(10)
	bothWays(us)
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.Positive(t, r.dropped)
	return ""
}

const iData = 0x40

func interleaving(t testing.TB, kind string, p peer, weOpen bool) string {
	us, r := meet(t, kind, p, weOpen)
	us.ask(1, []byte{askEcho})
	if r.passed(iData) == 0 {
		return "no I-DATA"
	}
	return ""
}

// A lack is what a peer does not have, by the name of the feature, and why.
type lack map[string]string

// zeroChecksum is that data travels without one both ways, once both sides have offered it (RFC 9653).
func zeroChecksum(t testing.TB, kind string, p peer, weOpen bool) string {
	if why := p.lacks()["zero checksum"]; why != "" {
		return why
	}
	us, r := meet(t, kind, p, weOpen, func(c *stack.Config) { c.ZeroChecksum = true })
	echo(t, us, 1, 5000, 200_000)
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.Positive(t, r.unsummed, "packets without a checksum")
	return ""
}

// multihoming, and failover by heartbeats, need a peer with several addresses, which the relay does not give it.
func multihoming(_ testing.TB, _ string, p peer, _ bool) string {
	return cmp.Or(p.lacks()["multihoming"], "not tried")
}

func theyAbort(t testing.TB, kind string, p peer, weOpen bool) string {
	us, _ := meet(t, kind, p, weOpen)
	us.ask(0, []byte{askEcho})
	us.send(0, []byte{askAbort})
	us.ends(syscall.ECONNRESET)
	return ""
}

func weAbort(t testing.TB, kind string, p peer, weOpen bool) string {
	us, r := meet(t, kind, p, weOpen)
	us.ask(0, []byte{askEcho})
	us.a.Abort()
	us.side.until("the abort on its way", func() bool { return r.passed(6) > 0 })
	return ""
}

// shutdown by the peer comes after all that it has sent.
func shutdown(t testing.TB, kind string, p peer, weOpen bool) string {
	us, _ := meet(t, kind, p, weOpen)
	us.ask(0, []byte{askEcho})
	us.send(0, generate(20, bulkSize, 4))
	us.side.until("all that the peer sends", func() bool { return us.messages >= 20 })
	us.send(0, []byte{askQuit})
	us.ends(inOrder)
	return ""
}

// restart: the peer dies without a word, and another one opens from where it was.
func restart(t testing.TB, kind string, p peer, weOpen bool) string {
	s := openSide(t, kind)
	r := newRelay(t, s.at(), netip.AddrPort{})
	to := netip.AddrPortFrom(beyond, port(r.peers))
	kill := p.open(t, to)
	s.comes().ask(0, []byte{askEcho})
	kill()
	p.open(t, to)
	s.comes().ask(0, []byte{askEcho})
	return ""
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
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "ours\tpeer\topens")
	for _, f := range features {
		fmt.Fprint(w, "\t", f.name)
	}
	fmt.Fprintln(w)
	for kind := range stacks {
		for _, p := range peers {
			for _, weOpen := range []bool{true, false} {
				row(t, w, features, kind, p, weOpen)
			}
		}
	}
	_ = w.Flush()
	t.Log("\n" + table.String())
}

func row(t *testing.T, w *tabwriter.Writer, features []feature, kind string, p peer, weOpen bool) {
	who := "peer"
	if weOpen {
		who = "we"
	}
	fmt.Fprintf(w, "%s\t%s\t%s", kind, p.name(), who)
	t.Run(fmt.Sprintf("%s/%s/%s", kind, p.name(), who), func(t *testing.T) {
		p.need(t)
		for _, f := range features {
			result := "FAILED"
			if f.name == "restart" && weOpen {
				result = "n/a"
			} else if t.Run(f.name, func(t *testing.T) { result = f.play(t, kind, p, weOpen) }) && result == "" {
				result = "ok"
			}
			fmt.Fprint(w, "\t", result)
		}
	})
	fmt.Fprintln(w)
}

// peers are those that run anywhere.
var peers = []peer{pion{}, &usrsctp{}}
