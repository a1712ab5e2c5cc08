package udp

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Whoever only sees packets, or asks another rank, can not end a connection.
func TestUnknownIsProved(t *testing.T) {
	p := connected(t)
	m, l := p.ends[0].m, p.ends[0].link
	word := func(rank uint32) []byte {
		b := order.AppendUint32(appendName(nil, kindUnknown, l.theirs), rank)
		return append(b, m.proof(b)...)
	}
	forged := word(1)
	forged[len(forged)-1] ^= 1
	for what, b := range map[string][]byte{"no proof": word(1)[:nameSize], "a wrong proof": forged, "another rank's": word(0), "too long": append(word(1), 0)} {
		m.unknownTo(nil, l.theirs, b)
		assert.Zero(t, p.recv[0].Downs, what)
	}
	m.unknownTo(nil, l.theirs, word(1))
	assert.Equal(t, 1, p.recv[0].Downs)
	assert.ErrorIs(t, p.recv[0].Err, errUnknown)
}
