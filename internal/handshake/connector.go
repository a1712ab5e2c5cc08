package handshake

import (
	"encoding/binary"
	"fmt"
)

// A Connector is the state machine of the side that connects.
type Connector struct {
	pair    []byte
	hello   []byte
	blob    []byte // what this side tells
	state   state
	in      collector
	said    transcript
	keys    keys
	session *Session
	// proved is set once the acceptor has proved to be the rank that is meant. This side's proof
	// is then on its way.
	proved bool
	peer   []byte
}

// state of a machine: which message it is reading.
type state uint8

const (
	readChallenge state = iota
	readVerdict
	readHello
	awaitPair
	readProof
	awaitJudgement
	over
)

// NewConnector starts a handshake with a rank. Pair is the key that this process shares with that
// rank ([Identity.Pair]). Nonce must be random and never used before. Blob, of at most [MaxBlob]
// bytes, is what the peer is told once it has proved itself; it must not change until then.
// Binding are bytes that only the two ends of the connection have, or nil. The handshake proves
// that both have the same.
func (id *Identity) NewConnector(r Request, pair, blob, binding []byte, nonce [NonceSize]byte) *Connector {
	if len(blob) > MaxBlob {
		panic(fmt.Sprintf("handshake: blob of %d bytes, at most %d are allowed", len(blob), MaxBlob))
	}
	c := &Connector{pair: pair, blob: blob, state: readChallenge, said: id.begin(binding), hello: id.appendHello(nil, r, nonce)}
	c.said.add(c.hello)
	c.in.expect(challengeSize)
	return c
}

// Hello is the first message, which the connector sends unasked.
func (c *Connector) Hello() []byte { return c.hello }

// Need is how many bytes the machine can use now, 0 when it is over. A stream
// transport that reads no more than that has nothing left over afterwards.
func (c *Connector) Need() int { return c.in.need() }

// Proved reports whether the acceptor has proved who it is. From then on the
// acceptor may count this connection as made. Before that the connector may go away,
// and nobody has taken the connection for real.
func (c *Connector) Proved() bool { return c.proved }

// Midst reports whether an answer of the acceptor's has begun and is not whole.
func (c *Connector) Midst() bool { return c.in.have > 0 }

// Peer is what the acceptor told about itself, once done.
func (c *Connector) Peer() []byte { return c.peer }

// Session is what both ends share, once done.
func (c *Connector) Session() *Session { return c.session }

// Feed takes at most Need bytes, returns what is to be sent, and reports
// whether the acceptor has accepted. After an error the connection is to be
// closed; a [*RefusedError] is the acceptor's own word.
func (c *Connector) Feed(b []byte) (out []byte, done bool, err error) {
	for len(b) > 0 {
		if c.Need() == 0 {
			return out, false, ErrState
		}
		var whole bool
		if b, whole = c.in.take(b); !whole && !c.foreign() {
			return out, false, nil
		}
		if out, err = c.step(); err != nil {
			c.state = over
			c.in.expect(0)
			return nil, false, err
		}
		if c.state == over {
			return nil, true, nil
		}
	}
	return out, false, nil
}

// foreign reports whether the first bytes are not those of an acceptor: as [Acceptor] has it.
func (c *Connector) foreign() bool { return c.state == readChallenge && !c.in.begins(magicChallenge) }

func (c *Connector) step() ([]byte, error) {
	switch c.state {
	case readChallenge:
		return c.challenged(c.in.bytes())
	case readVerdict:
		return nil, c.judged()
	}
	return nil, ErrState
}

func (c *Connector) challenged(b []byte) ([]byte, error) {
	proof, err := parseChallenge(b)
	if err != nil {
		return nil, err
	}
	c.said.add(b[:challengeHead])
	c.keys = newKeys(c.pair, c.said)
	if !c.keys.proves(proof, wordChallenge, c.said) {
		return nil, ErrProof
	}
	c.said.add(proof)
	c.proved = true
	c.state = readVerdict
	c.in.expect(blobHead)

	out := binary.LittleEndian.AppendUint16(nil, uint16(len(c.blob)))
	out = append(out, 0, 0)
	c.said.add(out, c.blob)
	out = c.keys.prove(out, wordProof, c.said)
	c.said.add(out[4:])
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
	proof, blob := b[4:blobHead], b[blobHead:]
	c.said.add(b[:4], blob)
	if !c.keys.proves(proof, wordVerdict, c.said) {
		return ErrProof
	}
	if code != accepted {
		return &RefusedError{Code: code, Reason: printable(blob)}
	}
	c.said.add(proof)
	c.session = c.keys.session(c.said)
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
