package tcp

import (
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/need"
	"github.com/strandmp/strand/internal/openfiles"
	"github.com/strandmp/strand/internal/rawio"
)

// A flood is a crowd of connections to a node that never prove themselves. They
// are bare sockets: a connection costs the test no more than its descriptor.
type flood struct {
	n     *node
	said  [][]byte // what they say once they are connected, by turns
	conns []rawio.Conn
}

// pour opens more connections, without waiting for any of them to be made.
func (f *flood) pour(t *testing.T, count int) {
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
func (f *flood) speak() {
	for i := range f.conns {
		if said := f.said[i%len(f.said)]; len(said) > 0 {
			_, _ = f.conns[i].Send(said) // who is not connected, or has been thrown out, says nothing
		}
	}
}

func (f *flood) end() {
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

// Ten thousand connections that say nothing, or part of a hello, or one that was
// overheard: what they cost is bounded, who is connected notices nothing, and who
// belongs to the job gets in beside them.
func TestFlood(t *testing.T) {
	n := newNode(t, 0, 4)
	_, overheard := hello(n, 3, testSecret)
	f := &flood{n: n, said: [][]byte{nil, overheard[:len(overheard)-1], overheard}}
	defer f.end()
	count := min(10_000, (openfiles.Limit()-descriptors(t)-n.mod.strangers.most)*3/4)
	need.That(t, count > 2*n.mod.strangers.most, "needs more descriptors than %d: raise ulimit -n", openfiles.Limit())

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
		most = max(most, n.mod.strangers.count())
		return most == n.mod.strangers.most
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
	require.LessOrEqual(t, most, n.mod.strangers.most)
	require.LessOrEqual(t, ours, n.mod.strangers.most+64)
	require.LessOrEqual(t, grown, n.mod.strangers.most*(8<<10)+4<<20)
	f.end()
	n.until("the end of them", func() bool { return n.mod.strangers.count() == 0 })
	require.Zero(t, old.downs+answer.downs+friend.downs)
	require.Less(t, len(n.logged(btl.LogWarn)), 64, "one line a second, not one for each of them")
}

// Strangers that come back as soon as they are thrown out: a friend gets in.
func TestFloodGoesOn(t *testing.T) {
	n := newNode(t, 0, 4)
	n.do(func() { n.mod.strangers.most = 64 })
	f := &flood{n: n}
	defer f.end()
	f.pour(t, 64)
	n.until("all places to be taken", func() bool { return n.mod.strangers.count() == 64 })
	for round := range need.Times(3, 100) {
		rank := 1 + round%3
		friend := newNode(t, rank, 4)
		p := friend.reach(n)
		p.n.do(func() { p.ep.Send(frame("h"), 0) })
		p.n.until("a connection", func() bool {
			if len(f.conns) > 500 {
				f.end() // and come back
			}
			f.pour(t, 4) // each time that anything happens there
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

// The oldest of those that say nothing goes first; one whose proof is due has
// more time.
func TestWhoMakesRoom(t *testing.T) {
	at := func(ms int) *inbound { return &inbound{since: int64(time.Duration(ms) * time.Millisecond)} }
	now := int64(time.Second)
	old, young, claimed := at(850), at(950), at(300)
	s := strangers{most: 3, silent: []*inbound{old, young}, claimed: []*inbound{claimed}}
	require.Same(t, old, s.dispensable(now))
	s.forget(old)
	require.Same(t, claimed, s.dispensable(now))
	require.Equal(t, 2, s.count())
	s.claims(young)
	require.Empty(t, s.silent)
	s.forget(claimed)
	require.Nil(t, s.dispensable(now))
	require.True(t, s.hasRoom(now))
	s.most = 1
	require.False(t, s.hasRoom(now))
}
