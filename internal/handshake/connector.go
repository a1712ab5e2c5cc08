package handshake

import (
	"encoding/binary"
	"fmt"
)

// A Connector is the state machine of the side that connects.
type Connector struct {
	id    *Identity
	hello [helloSize]byte
	blob  []byte // what this side tells
	state state
	in    collector
	// proved is set once A has proved to hold the secret. C's own proof is then on its way.
	proved bool
	peer   []byte
}

// state of a machine: which message it is reading.
type state uint8

const (
	readChallenge state = iota
	readVerdict
	readHello
	readProof
	awaitJudgement
	over
)

// NewConnector starts a handshake. Nonce must be random and never used before;
// blob, of at most [MaxBlob] bytes, is what the peer is told once it has proved
// itself, and must not change until then.
func (id *Identity) NewConnector(r Request, blob []byte, nonce [NonceSize]byte) *Connector {
	if len(blob) > MaxBlob {
		panic(fmt.Sprintf("handshake: blob of %d bytes, at most %d are allowed", len(blob), MaxBlob))
	}
	c := &Connector{id: id, blob: blob, state: readChallenge}
	appendHello(c.hello[:0], id.job, r, nonce)
	c.in.expect(challengeSize)
	return c
}

// Hello appends the first message, which the connector sends unasked.
func (c *Connector) Hello(out []byte) []byte { return append(out, c.hello[:]...) }

// Need is how many bytes the machine can use now, 0 when it is over. A stream
// transport that reads no more than that has nothing left over afterwards.
func (c *Connector) Need() int { return c.in.need() }

// Proved reports whether the acceptor has proved to hold the secret and may
// count this connection as made. Before that, the connector may go away
// without anyone having taken it for real.
func (c *Connector) Proved() bool { return c.proved }

// Peer is what the acceptor told about itself, once done.
func (c *Connector) Peer() []byte { return c.peer }

// Session is what both ends share, once done.
func (c *Connector) Session() *Session { return c.id.session(c.hello[:], &c.in.nonce) }

// Feed takes at most Need bytes, appends to out what is to be sent, and reports
// whether the acceptor has accepted. After an error the connection is to be
// closed; a [*RefusedError] is the acceptor's own word.
func (c *Connector) Feed(b, out []byte) ([]byte, bool, error) {
	for len(b) > 0 {
		if c.Need() == 0 {
			return out, false, ErrState
		}
		var whole bool
		if b, whole = c.in.take(b); !whole {
			return out, false, nil
		}
		var err error
		if out, err = c.step(out); err != nil {
			c.state = over
			c.in.expect(0)
			return out, false, err
		}
		if c.state == over {
			return out, true, nil
		}
	}
	return out, false, nil
}

func (c *Connector) step(out []byte) ([]byte, error) {
	switch c.state {
	case readChallenge:
		return c.challenged(out)
	case readVerdict:
		return out, c.judged()
	}
	return out, ErrState
}

func (c *Connector) challenged(out []byte) ([]byte, error) {
	nonce, proof, err := parseChallenge(c.in.bytes())
	if err != nil {
		return out, err
	}
	if !c.id.proves(proof, wordChallenge, c.hello[:], &nonce) {
		return out, ErrProof
	}
	c.in.nonce = nonce
	c.proved = true
	c.state = readVerdict
	c.in.expect(blobHead)

	var head [4]byte
	binary.LittleEndian.PutUint16(head[:], uint16(len(c.blob)))
	out = append(out, head[:]...)
	out = c.id.prove(out, wordProof, c.hello[:], &nonce, head[:], c.blob)
	return append(out, c.blob...), nil
}

func (c *Connector) judged() error {
	b := c.in.bytes()
	code, n, err := parseVerdictHead(b)
	if err != nil {
		return err
	}
	if len(b) == blobHead && n > 0 {
		c.in.extend(n)
		return nil
	}
	blob := b[blobHead:]
	if !c.id.proves(b[4:blobHead], wordVerdict, c.hello[:], &c.in.nonce, b[:4], blob) {
		return ErrProof
	}
	if code != accepted {
		return &RefusedError{Code: code, Reason: printable(blob)}
	}
	c.peer = blob
	c.state = over
	c.in.expect(0)
	return nil
}

// printable keeps a peer's words from playing tricks on a terminal.
func printable(b []byte) string {
	const longest = 256
	if len(b) > longest {
		b = b[:longest]
	}
	out := []rune(string(b))
	for i, r := range out {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			out[i] = '?'
		}
	}
	return string(out)
}
