package handshake

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// An Identity is what makes a process one of the job's. It serves any number of
// handshakes.
type Identity struct {
	rank   int
	secret []byte
	name   string
	job    [16]byte
}

// NewIdentity makes the identity of a rank of the job of that name. Secret must
// be random, is known to the job's processes only, and is not copied. Without one
// everybody could prove that he has it, so it panics.
func NewIdentity(job string, secret []byte, rank int) *Identity {
	if len(secret) == 0 {
		panic("handshake: the job's secret is not known yet")
	}
	sum := sha256.Sum256([]byte(job))
	return &Identity{rank: rank, secret: secret, name: job, job: [16]byte(sum[:16])}
}

// Words that keep the proofs of the three messages apart.
const (
	wordChallenge = "strand acceptor's challenge"
	wordProof     = "strand connector's proof"
	wordVerdict   = "strand acceptor's verdict"
	wordSession   = "strand session"
)

// prove appends the proof for one message: the parts are those of the message
// itself. Every part is preceded by its length, so that no two transcripts have
// the same bytes.
func (id *Identity) prove(b []byte, word string, hello []byte, nonceA *[NonceSize]byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, id.secret)
	write := func(p []byte) {
		var n [4]byte
		binary.LittleEndian.PutUint32(n[:], uint32(len(p)))
		mac.Write(n[:])
		mac.Write(p)
	}
	write([]byte(word))
	write(hello)
	write([]byte(id.name))
	write(nonceA[:])
	for _, p := range parts {
		write(p)
	}
	return mac.Sum(b)
}

// proves compares in constant time.
func (id *Identity) proves(proof []byte, word string, hello []byte, nonceA *[NonceSize]byte, parts ...[]byte) bool {
	return hmac.Equal(proof, id.prove(nil, word, hello, nonceA, parts...))
}
