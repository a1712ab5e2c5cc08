package handshake

import (
	"crypto/hkdf"
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
	over   string // the transport's name
	admit  []byte // key of the mark in HELLO
}

// NewIdentity makes the identity of a rank of the job of that name. Secret must
// be random and known to the job's processes only; it is not copied. NewIdentity
// panics if secret is empty, since everybody has that one.
func NewIdentity(job string, secret []byte, rank int) *Identity {
	if len(secret) == 0 {
		panic("handshake: the job's secret is not known yet")
	}
	sum := sha256.Sum256([]byte(job))
	return &Identity{rank: rank, secret: secret, name: job, job: [16]byte(sum[:16]), admit: extract(secret, hash(wordHello, []byte(job)))}
}

// Over is the same process as it proves itself over the transport of that name. Who can change packets is
// not to join one transport's connection to another's, whose greetings mean something else.
func (id *Identity) Over(transport string) *Identity {
	other := *id
	other.over = transport
	return &other
}

// Words that keep apart what is derived from one key for different uses.
const (
	wordPair      = "strand 2 pair"
	wordHello     = "strand 2 hello"
	wordBegin     = "strand 2 handshake"
	wordChallenge = "strand 2 acceptor's challenge"
	wordProof     = "strand 2 connector's proof"
	wordVerdict   = "strand 2 acceptor's verdict"
	wordSession   = "strand 2 session"
)

// mark is the part of a HELLO that shows that its sender holds the job's secret. It is cheap to
// make and to check, and proves no rank.
func (id *Identity) mark(hello []byte) []byte {
	mac := hmac.New(sha256.New, id.admit)
	mac.Write(hello[:markAt])
	mac.Write(hello[markAt+markSize:])
	return mac.Sum(nil)[:markSize]
}

// A transcript stands for all that was said so far, in this order and in these messages.
type transcript [sha256.Size]byte

// hash returns the hash of a word and some fields. Each is preceded by its length, so that no two
// lists of fields have the same bytes.
func hash(word string, fields ...[]byte) (t transcript) {
	sum := sha256.New()
	for _, f := range append([][]byte{[]byte(word)}, fields...) {
		var n [4]byte
		binary.LittleEndian.PutUint32(n[:], uint32(len(f)))
		sum.Write(n[:])
		sum.Write(f)
	}
	sum.Sum(t[:0])
	return t
}

// begin is the transcript of a handshake in which nothing was said yet.
func (id *Identity) begin(binding []byte) transcript {
	return hash(wordBegin, []byte(id.name), []byte(id.over), binding)
}

// add adds a message, or a part of one.
func (t *transcript) add(parts ...[]byte) {
	sum := sha256.New()
	sum.Write(t[:])
	for _, p := range parts {
		sum.Write(p)
	}
	sum.Sum(t[:0])
}

// keys are those of one handshake. The master key is derived from the pair key and all that was
// said up to A's nonce.
type keys struct{ master [sha256.Size]byte }

func newKeys(pair []byte, t transcript) keys {
	return keys{[sha256.Size]byte(extract(pair, t))}
}

// prove appends the proof of a message, which the transcript ends with.
func (k *keys) prove(b []byte, word string, t transcript) []byte {
	mac := hmac.New(sha256.New, expand(k.master[:], word))
	mac.Write(t[:])
	return mac.Sum(b)
}

// proves compares in constant time.
func (k *keys) proves(proof []byte, word string, t transcript) bool {
	return hmac.Equal(proof, k.prove(nil, word, t))
}

// session returns what is left when the handshake is done. The transcript has all that was said.
func (k *keys) session(t transcript) *Session {
	return &Session{[sha256.Size]byte(expand(k.master[:], wordSession+string(t[:])))}
}

// A Session is what the two ends of one handshake share when it is done, and nobody else has.
type Session struct{ key [sha256.Size]byte }

// Key derives 32 bytes for the use that the label names. Both ends get the same.
func (s *Session) Key(label string) []byte { return expand(s.key[:], label) }

// extract and expand are the two steps of HKDF (RFC 5869).
func extract(key []byte, salt transcript) []byte {
	b, err := hkdf.Extract(sha256.New, key, salt[:])
	if err != nil {
		panic(err) // SHA-256 is a hash that it takes
	}
	return b
}

func expand(key []byte, info string) []byte {
	b, err := hkdf.Expand(sha256.New, key, info, sha256.Size)
	if err != nil {
		panic(err) // 32 bytes are a length that it takes
	}
	return b
}
