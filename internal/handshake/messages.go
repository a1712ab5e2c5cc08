package handshake

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Version of the handshake and of the wire format behind it.
const Version = 2

// Sizes in bytes.
const (
	// MaxBlob bounds what each side tells about itself.
	MaxBlob = 4096 + 512
	// MaxMessage bounds one message.
	MaxMessage = blobHead + MaxBlob
	// NonceSize is the number of random bytes that each side puts in.
	NonceSize = 32

	helloSize     = 108
	markAt        = 60
	markSize      = 16
	challengeHead = 40 // CHALLENGE without its proof
	challengeSize = challengeHead + macSize
	blobHead      = 36 // PROOF and VERDICT without their blob
	macSize       = 32
)

const (
	magicHello     = "STRD"
	magicChallenge = "STRA"
)

// NewNonce returns random bytes for one handshake.
func NewNonce() (nonce [NonceSize]byte) {
	rand.Read(nonce[:]) // it never fails (crypto/rand)
	return nonce
}

// IsHello reports whether b begins as the first message of a connector does. It is for a caller
// that may hear either side.
func IsHello(b []byte) bool {
	return len(b) >= len(magicHello) && string(b[:len(magicHello)]) == magicHello
}

// A Request is what a connector says about its attempt.
type Request struct {
	From, To int // ranks
	// Epoch numbers the attempt; a higher one is newer. Known is the epoch of
	// the last connection of this path that the connector knows of.
	Epoch, Known uint32
	// Path tells apart several connections between the same ranks.
	Path int
	// Target is the acceptor's address as published, the zero value where the transport has
	// no addresses of IP.
	Target netip.AddrPort
}

func (id *Identity) appendHello(b []byte, r Request, nonce [NonceSize]byte) []byte {
	le := binary.LittleEndian
	b = append(b, magicHello...)
	b = le.AppendUint16(b, Version)
	b = le.AppendUint16(b, uint16(r.Path))
	b = append(b, id.job[:]...)
	b = le.AppendUint32(b, uint32(r.From))
	b = le.AppendUint32(b, uint32(r.To))
	b = le.AppendUint32(b, r.Epoch)
	b = le.AppendUint32(b, r.Known)
	var addr [16]byte // zeros where the transport has no addresses
	if r.Target.IsValid() {
		addr = r.Target.Addr().As16()
	}
	b = append(b, addr[:]...)
	b = le.AppendUint16(b, r.Target.Port())
	b = append(b, make([]byte, 2+markSize)...)
	b = append(b, nonce[:]...)
	hello := b[len(b)-helloSize:]
	copy(hello[markAt:], id.mark(hello))
	return b
}

// marked reports whether a HELLO has the mark of one who holds the job's secret.
func (id *Identity) marked(hello []byte) bool {
	return hmac.Equal(hello[markAt:markAt+markSize], id.mark(hello))
}

// parseHello checks form only; the acceptor checks job, rank and mark. All versions have the job
// at the same place, so that it is returned with [ErrVersion] too.
func parseHello(b []byte) (r Request, job [16]byte, err error) {
	le := binary.LittleEndian
	if len(b) != helloSize || !IsHello(b) {
		return r, job, ErrMagic
	}
	copy(job[:], b[8:])
	if v := le.Uint16(b[4:]); v != Version {
		return r, job, otherVersion(v)
	}
	if b[58] != 0 || b[59] != 0 {
		return r, job, fmt.Errorf("%w: a reserved byte of HELLO is set", ErrFormat)
	}
	from, to := le.Uint32(b[24:]), le.Uint32(b[28:])
	if from > maxRank || to > maxRank {
		return r, job, fmt.Errorf("%w: %d → %d in HELLO", ErrFormat, from, to)
	}
	r = Request{
		From: int(from), To: int(to),
		Epoch: le.Uint32(b[32:]), Known: le.Uint32(b[36:]),
		Path: int(le.Uint16(b[6:])),
	}
	if addr, port := [16]byte(b[40:56]), le.Uint16(b[56:]); addr != [16]byte{} || port != 0 {
		r.Target = netip.AddrPortFrom(netip.AddrFrom16(addr).Unmap(), port)
	}
	return r, job, nil
}

func otherVersion(theirs uint16) error {
	return fmt.Errorf("%w: theirs is %d, ours %d: all processes must run the same version", ErrVersion, theirs, Version)
}

// maxRank is the largest rank that an int holds on every system.
const maxRank = 1<<31 - 1

// appendChallenge writes CHALLENGE; without a proof, its head.
func appendChallenge(b []byte, nonce [NonceSize]byte, proof []byte) []byte {
	b = append(b, magicChallenge...)
	b = binary.LittleEndian.AppendUint16(b, Version)
	b = append(b, 0, 0)
	b = append(b, nonce[:]...)
	return append(b, proof...)
}

func parseChallenge(b []byte) (proof []byte, err error) {
	if len(b) != challengeSize || string(b[:4]) != magicChallenge {
		return nil, ErrMagic
	}
	if v := binary.LittleEndian.Uint16(b[4:]); v != Version {
		return nil, otherVersion(v)
	}
	if b[6] != 0 || b[7] != 0 {
		return nil, fmt.Errorf("%w: a reserved byte of CHALLENGE is set", ErrFormat)
	}
	return b[challengeHead:], nil
}

// parseProofHead reads the first part of PROOF and returns the blob's length.
func parseProofHead(b []byte) (blob int, err error) {
	if b[2] != 0 || b[3] != 0 {
		return 0, fmt.Errorf("%w: a reserved byte of PROOF is set", ErrFormat)
	}
	return blobLength(binary.LittleEndian.Uint16(b))
}

// parseVerdictHead reads the first part of VERDICT.
func parseVerdictHead(b []byte) (code Code, blob int, err error) {
	if b[1] != 0 {
		return 0, 0, fmt.Errorf("%w: a reserved byte of VERDICT is set", ErrFormat)
	}
	if b[0] > byte(maxCode) {
		return 0, 0, fmt.Errorf("%w: unknown code %d in VERDICT", ErrFormat, b[0])
	}
	blob, err = blobLength(binary.LittleEndian.Uint16(b[2:]))
	return Code(b[0]), blob, err
}

func blobLength(n uint16) (int, error) {
	if n > MaxBlob {
		return 0, fmt.Errorf("%w: blob of %d bytes, at most %d are allowed", ErrFormat, n, MaxBlob)
	}
	return int(n), nil
}
