package tcp

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/wireup"
)

// throwOut checks that a connection has ended without another word, and why.
func throwOut(t *testing.T, n *node, c net.Conn, why error) {
	t.Helper()
	got, _ := io.ReadAll(c)
	require.Empty(t, got)
	lines := n.logged(btl.LogWarn)
	require.NotEmpty(t, lines)
	require.Contains(t, lines[len(lines)-1], why.Error())
	require.Empty(t, n.accepted)
	n.do(func() { n.mod.Wire.Strays = wireup.Limiter{} })
}

// challenge says what a rank of the job would say first, and returns the answer.
func challenge(t *testing.T, n *node, said []byte) (net.Conn, []byte) {
	t.Helper()
	c := stranger(t, n)
	_, err := c.Write(said)
	require.NoError(t, err)
	got := make([]byte, 72)
	_, err = io.ReadFull(c, got)
	require.NoError(t, err)
	return c, got
}

// proofOf is a PROOF message with the given 32 bytes and an empty blob.
func proofOf(hmac []byte) []byte { return append(make([]byte, 4), hmac...) }

// An intruder that knows everything but the secret learns nothing and gets nowhere.
func TestIntruderWithoutSecret(t *testing.T) {
	n := newNode(t, 0, 4)
	_, said := hello(n, 2, testSecret)
	t.Run("no proof", func(t *testing.T) {
		c, _ := challenge(t, n, said)
		_, err := c.Write(proofOf(make([]byte, 32)))
		require.NoError(t, err)
		throwOut(t, n, c, handshake.ErrProof)
	})
	t.Run("another secret", func(t *testing.T) {
		_, said := hello(n, 2, []byte("another secret of thirty-two byt"))
		c := stranger(t, n)
		_, err := c.Write(said)
		require.NoError(t, err)
		throwOut(t, n, c, handshake.ErrSecret)
	})
	t.Run("the secret, and another rank's key", func(t *testing.T) {
		machine := handshake.NewIdentity(n.job, testSecret, 2).Over("tcp").NewConnector(
			handshake.Request{From: 2, To: n.rank, Epoch: 1, Target: target(n)}, pairKey(3, n.rank), nil, nil, handshake.NewNonce())
		c, got := challenge(t, n, machine.Hello())
		_, _, err := machine.Feed(got)
		require.ErrorIs(t, err, handshake.ErrProof, "it notices itself")
		c.Close()
		n.until("its end", func() bool { return n.mod.Wire.Count() == 0 })
	})
	t.Run("the node's own proof reflected", func(t *testing.T) {
		c, got := challenge(t, n, said)
		_, err := c.Write(proofOf(got[40:]))
		require.NoError(t, err)
		throwOut(t, n, c, handshake.ErrProof)
	})
	t.Run("a proof from the other side's connection", func(t *testing.T) {
		_, first := challenge(t, n, said)
		c, _ := challenge(t, n, said)
		_, err := c.Write(proofOf(first[40:]))
		require.NoError(t, err)
		throwOut(t, n, c, handshake.ErrProof)
	})
	t.Run("a blob beyond all bounds", func(t *testing.T) {
		c, _ := challenge(t, n, said)
		long := binary.LittleEndian.AppendUint16(nil, 0xffff)
		_, err := c.Write(append(long, make([]byte, 34)...))
		require.NoError(t, err)
		throwOut(t, n, c, handshake.ErrFormat)
	})
	unharmed(t, n)
}

// A whole handshake was overheard and is said again. It fails: the nonce has changed.
func TestReplayedHandshake(t *testing.T) {
	n := newNode(t, 0, 4)
	machine, said := hello(n, 2, testSecret)
	c, answer := challenge(t, n, said)
	proof, _, err := machine.Feed(answer)
	require.NoError(t, err)
	again, _ := challenge(t, n, said)
	for _, to := range []net.Conn{again, c} { // the thief is first
		_, err := to.Write(proof)
		require.NoError(t, err)
		if to == again {
			throwOut(t, n, again, handshake.ErrProof)
		}
	}
	n.until("the friend", func() bool { return n.peers[2] != nil && n.peers[2].ups == 1 })
	again, _ = challenge(t, n, said)
	_, err = again.Write(proof)
	require.NoError(t, err)
	got, _ := io.ReadAll(again)
	require.Empty(t, got)
	require.Len(t, n.accepted, 1)
	require.Zero(t, n.peers[2].downs, "whose connection goes on")
	unharmed(t, n)
}

// impostor listens where a rank is looked for, and answers each connection.
func impostor(t *testing.T, answer func(net.Conn)) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			answer(c)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l
}

func portOf(l net.Listener) uint16 { return uint16(l.Addr().(*net.TCPAddr).Port) }

// read takes n bytes, or fewer if the connection ends.
func read(c net.Conn, n int) []byte {
	b := make([]byte, n)
	got, _ := io.ReadFull(c, b)
	return b[:got]
}

// An impostor that listens in a rank's place is found out by the rank that connects,
// whatever it has overheard. Nothing that is sent to it opens a door elsewhere.
func TestImpostor(t *testing.T) {
	b := newNode(t, 1, 4)
	var overheard []byte // b's answers to a hello of rank 0
	for name, test := range map[string]struct {
		answer func(c net.Conn)
		want   error
	}{
		"reflects what it is sent": {func(c net.Conn) { _, _ = c.Write(read(c, 108)) }, handshake.ErrMagic},
		"says what it has overheard": {func(c net.Conn) {
			read(c, 108)
			_, _ = c.Write(overheard)
			read(c, 1)
		}, handshake.ErrProof},
		"asks the rank itself": {func(c net.Conn) {
			to, err := net.Dial("tcp", target(b).String())
			if err != nil {
				return
			}
			defer to.Close()
			_, _ = to.Write(read(c, 108))
			_, _ = c.Write(read(to, 72)) // nothing: the hello names another address
		}, errors.New("without a word")},
	} {
		t.Run(name, func(t *testing.T) {
			_, said := hello(b, 0, testSecret)
			_, overheard = challenge(t, b, said)
			l := impostor(t, test.answer)
			a := newNode(t, 0, 4, set(pConnectRetries, "1"))
			x := a.reachAddress(1, unreachable(b, portOf(l)))
			a.do(func() { x.ep.Send(frame("h"), 0) })
			a.until("the end", func() bool { return x.downs == 1 })
			require.ErrorContains(t, x.down, test.want.Error())
			require.Zero(t, x.ups)
		})
	}
	require.Empty(t, b.accepted)
}

// A hello that is sent back to the rank that has said it.
func TestReflectedHello(t *testing.T) {
	n := newNode(t, 0, 4)
	said := make(chan []byte, 8)
	l := impostor(t, func(c net.Conn) { said <- read(c, 108) })
	x := n.reachAddress(1, unreachable(n, portOf(l)))
	n.do(func() { x.ep.Send(frame("h"), 0) })
	c := stranger(t, n)
	_, err := c.Write(<-said)
	require.NoError(t, err)
	throwOut(t, n, c, handshake.ErrRank)
}

// Byte after byte, each well before any limit for silence: the deadline is for
// the whole handshake.
func TestSlowIntruder(t *testing.T) {
	n := newNode(t, 0, 4, set(pHandshakeTimeout, "200ms"))
	_, said := hello(n, 2, testSecret)
	c := stranger(t, n)
	sent := 0
	for ; sent < len(said)-1; sent++ {
		if _, err := c.Write(said[sent : sent+1]); err != nil {
			break
		}
		require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Millisecond)))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
	}
	require.Less(t, sent, len(said)-1, "it was thrown out in the middle")
	n.until("its end", func() bool { return n.mod.Wire.Count() == 0 })
	require.Contains(t, n.logged(btl.LogWarn)[0], "no proof of belonging to this job in 200ms")
	unharmed(t, n)
}
