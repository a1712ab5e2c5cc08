package userstack

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
)

// dataChunk is a chunk of data without data.
func dataChunk(kind byte, tsn uint32) []byte {
	b := []byte{kind, 3, 0, 20}
	b = binary.BigEndian.AppendUint32(b, tsn)
	return append(b, make([]byte, 12)...)
}

func TestResentChunksAreCounted(t *testing.T) {
	first := ^uint32(0) - 1 // so that the numbers wrap
	r := resend{highest: first - 1}
	packet := func(tsns ...uint32) {
		b := append(make([]byte, headerSize), chunkHeartbeat, 0, 0, chunkHead)
		for i, tsn := range tsns {
			b = append(b, dataChunk([]byte{chunkData, chunkIData}[i%2], tsn)...)
		}
		r.look(b)
	}
	packet(first, first+1)
	packet(first+2, first+3)
	packet()
	assert.Zero(t, r.count.Load())
	packet(first, first+4)
	assert.EqualValues(t, 1, r.count.Load())
	packet(first+1, first+2)
	packet(first + 5)
	assert.EqualValues(t, 3, r.count.Load())
	r.look([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, chunkData, 0, 0, 4}) // too short to have a number
	assert.EqualValues(t, 3, r.count.Load())
}

// The cost of looking at a packet that leaves.
func BenchmarkResend(b *testing.B) {
	var r resend
	p := append(make([]byte, headerSize), dataChunk(chunkIData, 1)...)
	at := len(p) - 16
	for i := range b.N {
		binary.BigEndian.PutUint32(p[at:], uint32(i))
		r.look(p)
	}
}
