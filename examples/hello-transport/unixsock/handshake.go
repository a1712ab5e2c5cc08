package unixsock

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/strandmp/strand/btl"
)

// The handshake proves to both sides that the other holds the job's secret. C
// connects, A accepts; integers are little-endian.
//
//	C → A: "hello-transport1", rank of C (4), rank of A (4), nonce of C (32)
//	A → C: nonce of A (32), A's proof (32)
//	C → A: C's proof (32), length (2) and bytes of C's hello
//	A → C: verdict (1), length (2) and bytes of A's hello, or of the reason
//
// A proof is HMAC-SHA256 under the secret over a word for the side, the job's
// name, the ranks and the nonces.
const (
	magic     = "hello-transport1"
	nonceSize = 32
	openSize  = len(magic) + 8 + nonceSize
	maxHello  = 4096
)

// Verdicts.
const (
	accepted byte = iota
	duplicate
	refused
)

// credentials are what a process needs for a handshake, taken in the loop for
// use outside of it.
type credentials struct {
	rank, size int
	job        string
	secret     []byte
	hello      []byte
	timeout    time.Duration
}

func (m *module) credentials() credentials {
	h := m.host
	return credentials{h.Rank(), h.Size(), h.Job(), h.Secret(), h.Hello(), h.Params().Duration(pTimeout)}
}

// opening is C's first message.
type opening []byte

func (o opening) from() int     { return int(int32(binary.LittleEndian.Uint32(o[len(magic):]))) }
func (o opening) to() int       { return int(int32(binary.LittleEndian.Uint32(o[len(magic)+4:]))) }
func (o opening) genuine() bool { return string(o[:len(magic)]) == magic }

func (c credentials) proof(side string, o opening, nonceA []byte) []byte {
	mac := hmac.New(sha256.New, c.secret)
	fmt.Fprintf(mac, "%s\x00%q\x00", side, c.job)
	mac.Write(o)
	mac.Write(nonceA)
	return mac.Sum(nil)
}

var (
	errEarly     = errors.New("this process does not know the secret of its job yet")
	errProof     = errors.New("it does not hold the secret of this job")
	errDuplicate = errors.New("the two ranks are connected already, or about to be")
)

// introduce is C's side. It returns A's hello.
func (c credentials) introduce(conn net.Conn, peer int) ([]byte, error) {
	open := make(opening, 0, openSize)
	open = append(open, magic...)
	open = binary.LittleEndian.AppendUint32(open, uint32(c.rank))
	open = binary.LittleEndian.AppendUint32(open, uint32(peer))
	open = append(open, newNonce()...)
	if _, err := conn.Write(open); err != nil {
		return nil, err
	}
	var answer [nonceSize + sha256.Size]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return nil, err
	}
	nonce := answer[:nonceSize]
	if !hmac.Equal(answer[nonceSize:], c.proof("acceptor", open, nonce)) {
		return nil, errProof
	}
	if _, err := conn.Write(appendBlob(c.proof("connector", open, nonce), c.hello)); err != nil {
		return nil, err
	}
	var code [1]byte
	if _, err := io.ReadFull(conn, code[:]); err != nil {
		return nil, err
	}
	blob, err := readBlob(conn)
	switch {
	case err != nil:
		return nil, err
	case code[0] == accepted:
		return blob, nil
	case code[0] == duplicate:
		return nil, errDuplicate
	}
	return nil, fmt.Errorf("refused by the peer: %q", blob)
}

// examine is A's side up to the verdict. It returns C's rank and hello.
func (c credentials) examine(conn net.Conn) (rank int, hello []byte, err error) {
	if c.secret == nil { // whoever it is, it can not have learned from our job where we are
		return 0, nil, errEarly
	}
	_ = conn.SetDeadline(time.Now().Add(c.timeout)) // if it is closed, reading will say so
	open := make(opening, openSize)
	if _, err := io.ReadFull(conn, open); err != nil {
		return 0, nil, err
	}
	rank = open.from()
	if !open.genuine() || open.to() != c.rank || rank < 0 || rank >= c.size || rank == c.rank {
		return 0, nil, errors.New("not a peer of this job that looks for this rank")
	}
	nonce := newNonce()
	if _, err := conn.Write(append(nonce[:nonceSize:nonceSize], c.proof("acceptor", open, nonce)...)); err != nil {
		return 0, nil, err
	}
	var proof [sha256.Size]byte
	if _, err := io.ReadFull(conn, proof[:]); err != nil {
		return 0, nil, err
	}
	if !hmac.Equal(proof[:], c.proof("connector", open, nonce)) {
		return 0, nil, errProof
	}
	hello, err = readBlob(conn)
	return rank, hello, err
}

// dial connects and introduces this process. A peer that says "duplicate" is
// connecting to us, or has yet to notice that an old connection is gone; so it is
// asked again until the context ends, which is when the peer's attempt comes
// through.
func (m *module) dial(ctx context.Context, c credentials, name string, peer int) (net.Conn, []byte, error) {
	for {
		conn, hello, err := m.dialOnce(ctx, c, name, peer)
		if !errors.Is(err, errDuplicate) {
			return conn, hello, err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return nil, nil, err
		}
	}
}

func (m *module) dialOnce(ctx context.Context, c credentials, name string, peer int) (net.Conn, []byte, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", name)
	if err != nil {
		return nil, nil, err
	}
	if !m.conns.add(conn) {
		return nil, nil, btl.ErrClosed
	}
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	hello, err := c.introduce(conn, peer)
	if err != nil {
		m.conns.drop(conn)
		return nil, nil, err
	}
	return conn, hello, nil
}

func newNonce() []byte {
	b := make([]byte, nonceSize)
	rand.Read(b) // it never fails (crypto/rand)
	return b
}

func verdict(code byte, blob []byte) []byte {
	return appendBlob([]byte{code}, blob[:min(len(blob), maxHello)])
}

func appendBlob(b, blob []byte) []byte {
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(blob))), blob...)
}

func readBlob(conn net.Conn) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint16(size[:]))
	if n > maxHello {
		return nil, fmt.Errorf("a hello of %d bytes, at most %d are allowed", n, maxHello)
	}
	blob := make([]byte, n)
	_, err := io.ReadFull(conn, blob)
	return blob, err
}
