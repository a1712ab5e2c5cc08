package udp

import (
	"bytes"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// register notes what was sent under each number. One with two contents breaks AES-GCM, and GMAC; without either the peer takes the second
// one for a copy of the first, and acknowledges what it has not got.
type register map[[headSize]byte][]byte

func (r register) enter(t testing.TB, b []byte) {
	if len(b) < headSize || b[0] != kindData && b[0] != kindAnswer {
		return
	}
	head := [headSize]byte(b)
	if before, ok := r[head]; ok && !bytes.Equal(before, b) {
		require.Fail(t, "a number has two contents", "%x", head)
	}
	r[head] = bytes.Clone(b)
}

// The system may say that it has not taken packets that are on their way nevertheless: some of a batch that it cut up itself. Whatever it says of
// a batch, and whichever packets have gone out, no number has two contents, and all arrives.
func TestNoNumberHasTwoContents(t *testing.T) {
	errnos := []syscall.Errno{syscall.EAGAIN, syscall.EMSGSIZE, syscall.ENOBUFS, syscall.EPERM, syscall.EIO}
	failures := 0
	for seed := range need.Seeds(t, 20, 5000) {
		r := rand.New(rand.NewPCG(seed, 5))
		w := newWorld(t, seed, append(some(r), with(pTimeout, "200s"))...)
		w.near()
		w.connect()
		sent := register{}
		w.looks = func(_ int, b []byte) { sent.enter(t, b) }
		for _, n := range w.nodes {
			for _, so := range n.m.sockets {
				so.claims = func(taken int, errno syscall.Errno) (int, syscall.Errno) {
					if taken == 0 || r.IntN(4) != 0 {
						return taken, errno
					}
					failures++
					return r.IntN(taken), errnos[r.IntN(len(errnos))]
				}
			}
			n.ep.sender.mtu.Trust() // as over a path that carries more, until it is said to be narrower
		}
		for range 5 {
			w.ways[r.IntN(2)].loss = float64(r.IntN(3)) / 10
			w.chat(time.Duration(r.IntN(3000))*time.Millisecond, 2, 1<<r.IntN(17))
		}
		for i := range w.ways {
			w.ways[i].loss = 0
		}
		require.True(t, w.run(w.now+int64(time.Minute), w.there), "seed %d: %v %v", seed, w.nodes[0].wants, w.nodes[1].wants)
		require.Zero(t, w.downs(), "seed %d: %v %v", seed, w.nodes[0].recv.Err, w.nodes[1].recv.Err)
		w.close()
	}
	if !need.Replays() { // among few that are said in one world there may be none
		require.NotZero(t, failures)
	}
}

// An acknowledgement that the system has no room for goes out as soon as it has: the peer does not have to ask.
func TestAnAnswerThatFindsNoRoom(t *testing.T) {
	p := connected(t)
	ep := p.ends[1]
	refused, heard := 0, 0
	ep.link.so.claims = func(n int, errno syscall.Errno) (int, syscall.Errno) {
		if refused++; refused == 1 {
			return 0, syscall.EAGAIN
		}
		return n, errno
	}
	p.answer = func([]byte) bool {
		heard++
		return heard == 1 // what was refused was not sent
	}
	probes := p.ends[0].sender.path.Probes
	p.send(frame("h", "x"))
	p.until("an answer for which there is no room", func() bool { return refused > 0 })
	p.until("the answer", func() bool { return p.ends[0].sender.path.UnderWay() == 0 })
	require.Equal(t, probes, p.ends[0].sender.path.Probes)
}
