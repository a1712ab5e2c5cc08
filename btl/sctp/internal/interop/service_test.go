package interop

import (
	"encoding/binary"
	"hash/fnv"
)

// What a peer does with a message goes by its first byte:
//
//	e  sends it back, on its stream
//	s  counts it
//	r  says what it has counted: r, and messages, bytes, the sum of their hashes (FNV-1a), 8 bytes each
//	g  sends messages to be counted: how many (4), of what size (4), over how many streams from 1 on (1)
//	a  aborts the association
//	q  shuts it down
const (
	askEcho     = 'e'
	askCount    = 's'
	askReport   = 'r'
	askGenerate = 'g'
	askAbort    = 'a'
	askQuit     = 'q'
)

// streams in each direction.
const streams = 16

// A tally is of messages to be counted.
type tally struct{ messages, bytes, sum uint64 }

func (t *tally) add(b []byte) {
	h := fnv.New64a()
	_, _ = h.Write(b)
	t.messages++
	t.bytes += uint64(len(b))
	t.sum += h.Sum64()
}

func (t tally) report() []byte {
	b := binary.BigEndian.AppendUint64([]byte{askReport}, t.messages)
	b = binary.BigEndian.AppendUint64(b, t.bytes)
	return binary.BigEndian.AppendUint64(b, t.sum)
}

func reported(b []byte) (t tally) {
	if len(b) == 25 {
		t.messages, t.bytes, t.sum = binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:]), binary.BigEndian.Uint64(b[17:])
	}
	return t
}

// fill makes the n-th message to be counted.
func fill(b []byte, seed uint32) {
	b[0] = askCount
	for i := range b[1:] {
		seed = seed*1664525 + 1013904223
		b[1+i] = byte(seed >> 24)
	}
}

func generate(count, size, over int) []byte {
	b := binary.BigEndian.AppendUint32([]byte{askGenerate}, uint32(count))
	return append(binary.BigEndian.AppendUint32(b, uint32(size)), byte(over))
}

// expected is the tally of so many messages.
func expected(count, size int) (t tally) {
	b := make([]byte, size)
	for i := range count {
		fill(b, uint32(i))
		t.add(b)
	}
	return t
}

// A service is a peer in Go: what it does with messages.
type service struct {
	tally
	send  func(stream uint16, b []byte)
	abort func()
	quit  func()
}

func (s *service) act(stream uint16, b []byte) {
	switch b[0] {
	case askEcho:
		s.send(stream, b)
	case askCount:
		s.add(b)
	case askReport:
		s.send(0, s.report())
	case askGenerate:
		count, size, over := int(binary.BigEndian.Uint32(b[1:])), int(binary.BigEndian.Uint32(b[5:])), int(b[9])
		for i := range count {
			m := make([]byte, size)
			fill(m, uint32(i))
			s.send(uint16(1+i%over), m)
		}
	case askAbort:
		s.abort()
	case askQuit:
		s.quit()
	}
}
