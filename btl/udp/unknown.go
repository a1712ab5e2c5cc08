package udp

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"syscall"

	"github.com/strandmp/strand/internal/rawio"
)

// UNKNOWN ends a connection, so it is proved: by the job's secret, for the rank that says it and
// the number that it knows nothing of. Whoever only sees packets can not make one, and another
// rank's, which anybody can ask for, does not count. It can be repeated, but it was true once.
const (
	proofSize   = 16
	unknownSize = nameSize + 4 + proofSize
)

var errUnknown = fmt.Errorf("the peer knows no such connection any more: %w", syscall.ECONNRESET)

// unknown says that we know nothing of a connection, by the number that the receiver knows.
func (m *module) unknown(so *socket, named uint64, to *rawio.Destination) {
	if m.Host.Secret() == nil {
		return // nobody can have met us yet
	}
	m.out = order.AppendUint32(appendName(m.out[:0], kindUnknown, named), uint32(m.Host.Rank()))
	m.out = append(m.out, m.proof(m.out)...)
	_ = so.Send(m.out, to)
}

// proof proves what stands before the proof of an UNKNOWN.
func (m *module) proof(said []byte) []byte {
	h := hmac.New(sha256.New, m.Host.Secret())
	h.Write([]byte("strand udp unknown"))
	h.Write(said)
	return h.Sum(nil)[:proofSize]
}

// unknownTo takes the peer's word that it knows nothing of a connection: it names our number of it
// while we connect, and the peer's own, which is ours to send to, later.
func (m *module) unknownTo(l *link, named uint64, b []byte) {
	if p := m.peers[named]; p != nil {
		l = p
	}
	if l == nil || l.severed || len(b) != unknownSize || !l.connecting() && m.peers[named] != l || m.Host.Secret() == nil {
		return
	}
	said, proof := b[:unknownSize-proofSize], b[unknownSize-proofSize:]
	rank := int(order.Uint32(said[nameSize:]))
	if l.ep != nil && l.ep.Rank() != rank || !hmac.Equal(proof, m.proof(said)) {
		return
	}
	l.ended(errUnknown)
}
