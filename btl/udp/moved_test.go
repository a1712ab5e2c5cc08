package udp

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/datagram"
)

// moves gives rank 0's end another address, or port, as an address translator does that has forgotten the
// connection: what is sent to the old one arrives nowhere.
func (p *pair) moves(to string) {
	ep := p.ends[0]
	was := ep.link.so
	at, err := datagram.Open(netip.MustParseAddrPort(to), 0, 0)
	require.NoError(p.t, err)
	p.t.Cleanup(at.Close)
	so := &socket{Socket: at, m: was.m, at: was.at, longest: was.longest}
	require.NoError(p.t, so.Serve(ep.m.loop, so, datagram.NewBuffers()))
	ep.link.so, was.deaf = so, true
}

// The peer's address changes under a connection, and it goes on: whoever of both speaks first.
func TestThePeerMoves(t *testing.T) {
	for _, how := range protections {
		for to, first := range map[string]int{"127.0.0.1:0": 0, "127.0.0.2:0": 1} {
			t.Run(fmt.Sprintf("%s, %s, rank %d speaks", how, to, first), func(t *testing.T) {
				p := connected(t, with(pProtect, how))
				p.moves(to)
				f := frame("h", strings.Repeat("x", 50_000))
				p.until("room", func() bool { return p.ends[first].Send(f, 0) == btl.Taken })
				if first == 1 {
					p.ends[0].sender.probes = 1 // a sign of life, as after btl_udp_heartbeat
					p.ends[0].push()
				}
				p.until("the frame", func() bool { return len(p.recv[1-first].Frames) == 1 })
				p.until("the acknowledgement", func() bool { return len(p.recv[first].Freed) == 1 })
				p.settle()
				assert.Equal(t, p.ends[0].link.so.Local, p.ends[1].link.remote)
				assert.Same(t, p.ends[1].link, p.ends[1].m.strangers[stranger{p.ends[0].link.so.Local, p.ends[1].link.theirs}])
				assert.Zero(t, p.recv[0].Downs+p.recv[1].Downs)
			})
		}
	}
}

// An address that does not answer is sent no more than three times what came from there, whatever comes: nobody
// can have somebody else flooded. The connection stays where it was.
func TestAnAddressThatDoesNotAnswer(t *testing.T) {
	p := connected(t)
	l, theirs := p.ends[1].link, p.ends[1].link.remote
	victim, _, err := p.ends[0].m.openSocket(p.ends[0].link.so.at, 0, mtus())
	require.NoError(t, err)
	t.Cleanup(victim.Close)
	came := 0
	for i := range 1000 {
		b := append(appendHead(nil, kindAnswer, l.ours, uint64(1000+i)), itemPing) // the shortest that is taken
		came += len(b)
		p.ends[1].take(p.clock.Now(), l.so, victim.Local, b)
		assert.LessOrEqual(t, l.moved.sent, mostEcho*came)
		p.clock.Advance(10e6)
	}
	assert.Positive(t, l.moved.sent)
	assert.Equal(t, theirs, l.remote)
	b := order.AppendUint64(append(appendHead(nil, kindAnswer, l.ours, 5000), itemHere), l.moved.token)
	p.ends[1].take(p.clock.Now(), l.so, theirs, bytes.Clone(b))
	assert.Equal(t, theirs, l.remote, "an answer from elsewhere shows nothing")
	p.send(frame("h", "still here"))
	p.until("the frame", func() bool { return len(p.recv[1].Frames) == 1 })
	assert.False(t, l.moved.remote.IsValid())
}

// What was repeated, or overtaken by what came later, moves nothing.
func TestOldPacketsMoveNothing(t *testing.T) {
	p := connected(t)
	var seen []byte
	p.meddle = func(b []byte) bool {
		if isData(b) {
			seen = bytes.Clone(b)
		}
		return false
	}
	p.send(frame("h", "x"))
	p.until("the frame", func() bool { return len(p.recv[1].Frames) == 1 })
	l := p.ends[1].link
	p.ends[1].take(p.clock.Now(), l.so, netip.MustParseAddrPort("127.0.0.1:9"), seen)
	assert.False(t, l.moved.remote.IsValid())
}

// What has been sent again and again to where nobody is goes to the new address as soon as that is known: nothing waits for
// a pause, or a probe, that was for the old one.
func TestWhatHasWaitedFollowsAtOnce(t *testing.T) {
	for name, to := range map[string]string{"another port": "127.0.0.1:0", "another address": "127.0.0.2:0"} {
		t.Run(name, func(t *testing.T) {
			p := connected(t)
			p.moves(to)
			p.until("room", func() bool { return p.ends[1].Send(frame("h", "x"), 0) == btl.Taken })
			p.pass(4500 * time.Millisecond)
			p.ends[0].sender.probes = 1 // a sign of life
			p.ends[0].push()
			p.until("the new address", func() bool { return p.ends[1].link.remote == p.ends[0].link.so.Local })
			since := p.clock.Now()
			p.until("the frame", func() bool { return len(p.recv[0].Frames) == 1 })
			assert.Less(t, time.Duration(p.clock.Now()-since), 20*time.Millisecond)
		})
	}
}

// Another path has another round trip, and what may be under way over it goes by that (RFC 9000, section 9.4).
func TestTheRoundTripIsAnotherPaths(t *testing.T) {
	for to, another := range map[string]bool{"127.0.0.1:0": false, "127.0.0.2:0": true} {
		p := connected(t)
		p.moves(to)
		path := p.ends[1].sender.path
		path.Smoothed, path.Least = int64(time.Hour), 1
		p.send(frame("h", "here"))
		p.until("the new address", func() bool { return p.ends[1].link.remote == p.ends[0].link.so.Local })
		p.until("room", func() bool { return p.ends[1].Send(frame("h", "x"), 0) == btl.Taken })
		p.until("the frame", func() bool { return len(p.recv[1].Freed) == 1 })
		assert.Equal(t, another, path.Smoothed < int64(time.Second), to)
		assert.Equal(t, another, path.Least > 1, to)
	}
}
