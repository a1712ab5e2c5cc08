package userstack

import (
	"encoding/binary"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// joinedPacket is a header without checksum and so many chunks of data.
func joinedPacket(tag uint32, n int) []byte {
	b := make([]byte, headerSize)
	binary.BigEndian.PutUint32(b[4:], tag)
	for tsn := range uint32(n) {
		c := append(dataChunk(chunkData, tsn), make([]byte, 1401)...)
		binary.BigEndian.PutUint16(c[2:], uint16(len(c)))
		b = pad(append(b, c...))
	}
	return b
}

// What a kernel has joined is handed on as packets that pion takes, each with a
// checksum and no longer than one may be.
func TestJoinedPacketIsCut(t *testing.T) {
	s := &Stack{cfg: &config{}}
	a := &association{s: s, mtu: 1440, trusted: true}
	a.ours.out, a.ours.in, a.theirs.out, a.theirs.in = 1, 1, 1, 1
	a.conn = newConn(a)
	a.streams = map[uint16]*stream{0: {fresh: true}}
	const chunksIn = 20
	b := joinedPacket(7, chunksIn)
	require.True(t, a.isJoined(b))
	a.cut(new(socket), b)
	next := uint32(0)
	buf := make([]byte, largestPacket)
	for range a.pushed {
		n, err := a.conn.next(buf)
		require.NoError(t, err)
		require.LessOrEqual(t, n, 1440)
		require.NoError(t, checkSum(buf[:n]))
		assert.EqualValues(t, 7, tagOf(buf))
		chunks(buf[:n], func(kind byte, c []byte) bool {
			assert.EqualValues(t, chunkData, kind)
			assert.Equal(t, next, binary.BigEndian.Uint32(c[tsnAt:]))
			next++
			return true
		})
	}
	assert.EqualValues(t, chunksIn, next)
}

// A packet of ordinary length without a checksum is damaged, and so is a long one
// with a wrong one.
func TestDamagedPacketIsNotJoined(t *testing.T) {
	a := &association{mtu: 1440}
	assert.False(t, a.isJoined(joinedPacket(7, 1)))
	b := joinedPacket(7, 3)
	b[8] = 1
	assert.False(t, a.isJoined(b))
}

// Pion's heartbeats have no information, for which a kernel aborts the association.
func TestEmptyHeartbeatStaysHere(t *testing.T) {
	a := &association{s: new(Stack), so: new(socket)}
	a.so.s = a.s
	sent := 0
	f := func([]byte) bool { sent++; return false }
	a.s.filter.Store(&f)
	c := newConn(a)
	for _, b := range [][]byte{seal(newPacket(1, chunkHeartbeat, 0)), seal(appendParam(newPacket(1, chunkHeartbeat, 0), paramHeartbeat, noSum[:]))} {
		n, err := net.Conn(c).Write(b)
		require.NoError(t, err)
		require.Equal(t, len(b), n)
	}
	assert.Equal(t, 1, sent)
}
