package handshake

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// KeySize is the length in bytes of a public key, and of what is derived from one.
const KeySize = 32

// ErrKey: what a rank has published can not be paired with another rank's key.
var ErrKey = errors.New("unusable public key")

// A KeyPair is a process's own. It is made when the process starts, never leaves it, and ends
// with it.
type KeyPair struct{ private *ecdh.PrivateKey }

// NewKeyPair makes one, of X25519 (RFC 7748).
func NewKeyPair() *KeyPair {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	return &KeyPair{private}
}

// Public is what every other process may know.
func (k *KeyPair) Public() []byte { return k.private.PublicKey().Bytes() }

// Pair derives the key that this process shares with the peer, whose public key it takes. Both
// derive the same. The job's secret and both public keys are not enough to derive it. A public key
// of low order is refused, since anybody could derive the pair key then.
func (id *Identity) Pair(own *KeyPair, peer int, public []byte) ([]byte, error) {
	mine := own.Public()
	if bytes.Equal(mine, public) {
		return nil, fmt.Errorf("%w: rank %d has published that of rank %d", ErrKey, peer, id.rank)
	}
	theirs, err := ecdh.X25519().NewPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("%w: rank %d: %w", ErrKey, peer, err)
	}
	shared, err := own.private.ECDH(theirs)
	if err != nil {
		return nil, fmt.Errorf("%w: rank %d: %w", ErrKey, peer, err)
	}
	low, lowKey, high, highKey := id.rank, mine, peer, public
	if peer < id.rank {
		low, lowKey, high, highKey = peer, public, id.rank, mine
	}
	t := hash(wordPair, []byte(id.name), number(low), lowKey, number(high), highKey)
	return hkdf.Key(sha256.New, shared, id.secret, string(t[:]), KeySize)
}

func number(rank int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(rank)) }
