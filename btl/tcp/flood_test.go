package tcp

import (
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/openfiles"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/test/flood"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/wireup"
)

// A horde is connections to a node that never prove themselves. They
// are bare sockets: a connection costs the test no more than its descriptor.
type horde struct {
	n     *node
	said  [][]byte // what they say once they are connected, by turns
	conns []rawio.Conn
}

// pour opens more connections, without waiting for any of them to be made.
func (f *horde) pour(t *testing.T, count int) {
	t.Helper()
	to := target(f.n)
	for range count {
		fd, err := rawio.Stream(to)
		require.NoError(t, err)
		_, err = rawio.Connect(fd, netip.Addr{}, to)
		require.NoError(t, err)
		f.conns = append(f.conns, rawio.NewConn(fd))
	}
}

// speak has those that are connected say their piece.
func (f *horde) speak() {
	for i := range f.conns {
		if said := f.said[i%len(f.said)]; len(said) > 0 {
			_, _ = f.conns[i].Send(said) // fails if it is not connected yet, or was thrown out
		}
	}
}

func (f *horde) end() {
	for i := range f.conns {
		rawio.Close(f.conns[i].FD())
	}
	f.conns = nil
}

// descriptors counts those of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/dev/fd")
	require.NoError(t, err)
	return len(all)
}

// heap is the memory in use.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// Ten thousand connections say nothing, or a part of a hello, or a hello that was
// overheard. What they cost is bounded. Peers that are connected notice nothing, and
// a rank of the job gets in beside them.
func TestFlood(t *testing.T) {
	n := newNode(t, 0, 4)
	_, overheard := hello(n, 3, testSecret)
	f := &horde{n: n, said: [][]byte{nil, overheard[:len(overheard)-1], overheard}}
	defer f.end()
	count := min(10_000, (openfiles.Limit()-descriptors(t)-n.mod.Wire.Most())*3/4)
	need.That(t, count > 2*n.mod.Wire.Most(), "needs more descriptors than %d: raise ulimit -n", openfiles.Limit())

	old := newNode(t, 1, 4).reach(n)
	old.connected()
	n.until("the connection", func() bool { return n.peers[1] != nil && n.peers[1].ups == 1 })
	answer := n.peers[1]
	answer.onDeliver = func(message) error { answer.ep.Send(frame("h", "pong"), 0); return nil }
	pings := 0
	ping := func() {
		pings++
		require.Equal(t, btl.Done, old.send(frame("h", "ping")))
		old.n.until("the answer", func() bool { return len(old.frames) == pings })
	}

	descriptorsBefore, heapBefore := descriptors(t), heap()
	most := 0
	full := func() bool {
		most = max(most, n.mod.Wire.Count())
		return most == n.mod.Wire.Most()
	}
	f.pour(t, count)
	f.speak()
	ping()
	n.until("all places to be taken", full)
	f.speak()

	started := time.Now()
	friend := newNode(t, 2, 4).reach(n)
	require.Equal(t, btl.Done, friend.send(frame("h", "let me in")))
	n.until("a friend's frame", func() bool {
		full()
		return n.peers[2] != nil && len(n.peers[2].frames) == 1
	})
	t.Logf("%d half-open connections: a friend's first frame took %v", count, time.Since(started))
	for range 100 {
		ping()
	}

	ours := descriptors(t) - descriptorsBefore - count
	grown := heap() - heapBefore
	t.Logf("at most %d of them were kept, by %d descriptors and %d KB", most, ours, grown>>10)
	require.LessOrEqual(t, most, n.mod.Wire.Most())
	require.LessOrEqual(t, ours, n.mod.Wire.Most()+64)
	require.LessOrEqual(t, grown, n.mod.Wire.Most()*(8<<10)+4<<20)
	f.end()
	n.until("the end of them", func() bool { return n.mod.Wire.Count() == 0 })
	require.Zero(t, old.downs+answer.downs+friend.downs)
	require.Less(t, len(n.logged(btl.LogWarn)), 64, "one line a second, not one for each of them")
}

// Connections that claim to be a rank, made anew as fast as they are thrown out: a member
// gets in beside them, from another address and from the same.
func TestMemberAmongClaims(t *testing.T) {
	for _, test := range []struct{ name, from string }{{"from another host", "127.0.0.9"}, {"from the same host", "127.0.0.1"}} {
		t.Run(test.name, func(t *testing.T) {
			for range need.Times(1, 20) {
				n := newNode(t, 0, 4)
				_, overheard := hello(n, 3, testSecret)
				f := flood.NewTCP(target(n), netip.MustParseAddr(test.from), 4000, overheard)
				n.until("all places to be taken", func() bool { return n.mod.Wire.Count() == n.mod.Wire.Most() })
				calm := f.Made.Load() + 500
				n.until("the midst of it", func() bool { return f.Made.Load() > calm })
				member := newNode(t, 1, 4).reach(n)
				started, made := time.Now(), f.Made.Load()
				require.Equal(t, btl.Done, member.send(frame("h", "let me in")))
				n.until("a member's frame", func() bool { return n.peers[1] != nil && len(n.peers[1].frames) == 1 })
				took, others := time.Since(started), f.Made.Load()-made
				t.Logf("in after %v, among %d others", took, others)
				require.Zero(t, member.downs)
				require.Less(t, took, 10*time.Second)
				if test.from != "127.0.0.1" {
					require.Equal(t, uint32(1), member.ep.Attempted(), "the flood pays, and the member's first attempt is let in")
				}
				f.End()
				member.n.close()
				n.close()
			}
		})
	}
}

// Strangers that come back as soon as they are thrown out: a friend gets in. All come from its own address, so an attempt of
// its loses its place by chance, one in some six: with three attempts one friend in 200 would not get in.
func TestFloodGoesOn(t *testing.T) {
	n := newNode(t, 0, 4)
	n.do(func() {
		few := n.mod.Wire.Config
		few.Strangers = 64
		n.mod.Wire = wireup.NewManager(n, n.mod, few)
	})
	f := &horde{n: n}
	defer f.end()
	f.pour(t, 64)
	n.until("all places to be taken", func() bool { return n.mod.Wire.Count() == 64 })
	for round := range need.Times(3, 100) {
		rank := 1 + round%3
		friend := newNode(t, rank, 4, set(pConnectRetries, "20"))
		p := friend.reach(n)
		p.n.do(func() { p.ep.Send(frame("h"), 0) })
		p.n.until("a connection", func() bool {
			if len(f.conns) > 500 {
				f.end() // and come back
			}
			f.pour(t, 4) // after each poll
			return p.ups > 0
		})
		n.until("the connection", func() bool { return n.peers[rank] != nil && n.peers[rank].ups > 0 })
		require.Zero(t, p.downs)
		friend.close()
		n.until("its end", func() bool { return n.peers[rank].downs > 0 })
		n.do(func() { _ = n.peers[rank].ep.Close() })
		f.end()
	}
}
