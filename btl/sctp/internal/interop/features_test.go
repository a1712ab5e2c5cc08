package interop

import (
	"bytes"
	"flag"
	"fmt"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/test/need"
)

// What is to be seen, in the order of the table.
type feature struct {
	name string
	play func(t testing.TB, kind string, p peer, weOpen bool) string // what is remarkable
}

var features = []feature{
	{"handshake, messages", messages},
	{"long messages", long},
	{"bulk", bulk},
	{"bulk, 1 % loss", loss},
	{"I-DATA", interleaving},
	{"zero checksum", zeroChecksum},
	{"multihoming", multihoming},
	{"heartbeat failover", failover},
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

// megabytes is for trials: -args -megabytes 100.
var megabytes = flag.Int("megabytes", 0, "how much goes each way with loss; 0: what the occasion allows")

// total is how many bytes go each way with loss.
func total(p peer) int {
	switch {
	case *megabytes > 0:
		return *megabytes << 20
	case p.most() > 0:
		return p.most()
	case need.Soaking():
		return 1 << 30
	case need.Thorough():
		return 100 << 20
	}
	return 1 << 20
}

const bulkSize = 50_000

// bulk goes in chunks of DATA, without I-DATA.
func bulk(t testing.TB, kind string, p peer, weOpen bool) string {
	us, r := meet(t, kind, p, weOpen, func(c *stack.Config) { c.Interleave = false })
	bothWays(us, min(total(p), 4<<20))
	assert.Zero(t, r.passed(iData))
	return ""
}

// loss is one packet of a hundred on each way.
func loss(t testing.TB, kind string, p peer, weOpen bool) string {
	us, r := meet(t, kind, p, weOpen)
	r.set(10)
	there, back := bothWays(us, total(p))
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.Positive(t, r.dropped)
	return fmt.Sprintf("ok: %d MB there in %.1f s, and back in %.1f s", total(p)>>20, there.Seconds(), back.Seconds())
}

// bothWays sends so many bytes, and gets as many. It returns how long either takes.
func bothWays(us *party, total int) (there, back time.Duration) {
	t, begun := us.side.t, time.Now()
	count := total / bulkSize
	var want tally // counted on the way: 1 GB at once takes an emulated processor longer than peers have patience
	b := make([]byte, bulkSize)
	for i := range count {
		fill(b, uint32(i))
		want.add(b)
		us.send(uint16(1+i%10), b)
	}
	require.Equal(t, want, us.counted(want.messages), "what the peer has counted")
	there = time.Since(begun)
	us.tally = tally{}
	us.send(0, generate(count, bulkSize, 10))
	us.side.until("all that the peer sends", func() bool { return us.messages >= want.messages || us.down != nil })
	require.NoError(t, us.down)
	require.Equal(t, want, us.tally, "what we have counted")
	return there, time.Since(begun) - there
}

// counted is what the peer has counted, when that is as many messages, or patience has ended.
func (p *party) counted(messages uint64) (got tally) {
	for deadline := time.Now().Add(patience()); got.messages < messages && time.Now().Before(deadline); {
		got = reported(p.ask(0, []byte{askReport}))
	}
	return got
}

// Types of chunks.
const (
	data  = 0
	iData = 0x40
)

// interleaving is that I-DATA goes both ways, and DATA neither.
func interleaving(t testing.TB, kind string, p peer, weOpen bool) string {
	us, r := meet(t, kind, p, weOpen)
	echo(t, us, 1, 5000, 200_000)
	assert.Positive(t, r.passed(iData))
	assert.Zero(t, r.passed(data))
	return ""
}

// A lack is what a peer does not have, by the name of the feature, and why.
type lack map[string]string

// zeroChecksum is that data travels without one both ways, once both sides have offered it (RFC 9653).
func zeroChecksum(t testing.TB, kind string, p peer, weOpen bool) string {
	us, r := meet(t, kind, p, weOpen, func(c *stack.Config) { c.ZeroChecksum = true })
	echo(t, us, 1, 5000, 200_000)
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.Positive(t, r.unsummed, "packets without a checksum")
	return ""
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

// restart: who has opened dies without a word, and opens again from where it was.
func restart(t testing.TB, kind string, p peer, weOpen bool) string {
	if weOpen {
		weRestart(t, kind, p)
		return ""
	}
	s := openSide(t, kind, nil, forPeer(p))
	r := newRelay(t, s.at(), netip.AddrPort{})
	kill := p.open(t, near, r.forPeer())
	first := s.comes()
	first.ask(0, []byte{askEcho})
	r.silence(true)
	kill()
	if word := p.lastWord(); word != 0 {
		s.until("its last word to be lost", func() bool { return r.passed(word) > 0 })
	}
	r.silence(false)
	p.open(t, near, r.forPeer())
	s.comes().ask(0, []byte{askEcho})
	require.Error(t, first.down, "the first association has ended")
	return ""
}

func weRestart(t testing.TB, kind string, p peer) {
	us, r := meet(t, kind, p, true)
	us.ask(0, []byte{askEcho})
	us.a.Sever()
	again := call(openSide(t, kind, nil, forPeer(p)), r)
	echo(t, again, 1, 5000)
	require.NoError(t, us.down, "nothing reaches the one that has died")
}
