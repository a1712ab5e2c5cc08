package handshake

import (
	"crypto/hkdf"
	"crypto/sha256"
)

// A Session is what the two ends of one handshake share when it is done, and nobody else has.
type Session struct{ secret [sha256.Size]byte }

// Key derives 32 bytes for the use that the label names. Both ends get the same.
func (s *Session) Key(label string) []byte { return expand(s.secret[:], label) }

// expand derives 32 bytes from a key for the use that the label names (RFC 5869).
func expand(key []byte, label string) []byte {
	b, err := hkdf.Expand(sha256.New, key, label, sha256.Size)
	if err != nil {
		panic(err) // it fails for lengths that this is not
	}
	return b
}

// session is made of the secret, both nonces and all that the request says.
func (id *Identity) session(hello []byte, nonceA *[NonceSize]byte) *Session {
	return &Session{[sha256.Size]byte(id.prove(nil, wordSession, hello, nonceA))}
}
