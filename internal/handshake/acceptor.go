package handshake

import (
	"encoding/binary"
	"fmt"
)

// An Acceptor is the state machine of the side that accepts.
type Acceptor struct {
	id      *Identity
	request Request
	hello   [helloSize]byte
	admit   func(Request) error
	state   state
	in      collector
	peer    []byte
}

// NewAcceptor starts a handshake with whoever has connected. Nonce must be
// random and never used before. Admit looks at a request that is well-formed and
// names this rank, before anything is answered; what it says is not yet proved.
// An error of it ends the handshake.
func (id *Identity) NewAcceptor(nonce [NonceSize]byte, admit func(Request) error) *Acceptor {
	a := &Acceptor{id: id, admit: admit, state: readHello}
	a.in.nonce = nonce
	a.in.expect(helloSize)
	return a
}

// Need is how many bytes the machine can use now, 0 when it waits for
// [Acceptor.Accept] or [Acceptor.Refuse], or is over.
func (a *Acceptor) Need() int { return a.in.need() }

// Request is what the connector asks for. Until it has proved itself it is only
// what a stranger claims.
func (a *Acceptor) Request() Request { return a.request }

// Peer is what the connector told about itself, once it has proved itself.
func (a *Acceptor) Peer() []byte { return a.peer }

// Session is what both ends share, once the connector is let in.
func (a *Acceptor) Session() *Session { return a.id.session(a.hello[:], &a.in.nonce) }

// Feed takes at most Need bytes, appends to out what is to be sent, and reports
// whether the connector has proved itself: then Accept or Refuse is to follow.
// After an error the connection is to be closed without a word.
func (a *Acceptor) Feed(b, out []byte) ([]byte, bool, error) {
	for len(b) > 0 {
		if a.Need() == 0 {
			return out, false, ErrState
		}
		var whole bool
		if b, whole = a.in.take(b); !whole {
			return out, false, nil
		}
		var err error
		if out, err = a.step(out); err != nil {
			a.state = over
			a.in.expect(0)
			return out, false, err
		}
		if a.state == awaitJudgement {
			return out, true, nil
		}
	}
	return out, false, nil
}

func (a *Acceptor) step(out []byte) ([]byte, error) {
	switch a.state {
	case readHello:
		return a.greeted(out)
	case readProof:
		return out, a.provedBy()
	}
	return out, ErrState
}

func (a *Acceptor) greeted(out []byte) ([]byte, error) {
	r, job, err := parseHello(a.in.bytes())
	if err != nil {
		return out, err
	}
	if job != a.id.job {
		return out, ErrJob
	}
	if r.To != a.id.rank {
		return out, fmt.Errorf("%w: it looks for rank %d, this is rank %d", ErrRank, r.To, a.id.rank)
	}
	if r.From == a.id.rank {
		return out, fmt.Errorf("%w: it claims to be this rank, %d", ErrRank, r.From)
	}
	if err := a.admit(r); err != nil {
		return out, err
	}
	a.request = r
	copy(a.hello[:], a.in.bytes())
	a.state = readProof
	a.in.expect(blobHead)

	out = append(out, magicChallenge...)
	out = binary.LittleEndian.AppendUint16(out, Version)
	out = append(out, 0, 0)
	out = append(out, a.in.nonce[:]...)
	return a.id.prove(out, wordChallenge, a.hello[:], &a.in.nonce), nil
}

func (a *Acceptor) provedBy() error {
	b := a.in.bytes()
	n, err := parseProofHead(b)
	if err != nil {
		return err
	}
	if len(b) == blobHead && n > 0 {
		a.in.extend(n)
		return nil
	}
	blob := b[blobHead:]
	if !a.id.proves(b[4:blobHead], wordProof, a.hello[:], &a.in.nonce, b[:4], blob) {
		return ErrProof
	}
	a.peer = blob
	a.state = awaitJudgement
	a.in.expect(0)
	return nil
}

// Accept appends the message that lets the connector in. Blob, of at most
// [MaxBlob] bytes, is what it is told about this side.
func (a *Acceptor) Accept(out, blob []byte) []byte {
	if len(blob) > MaxBlob {
		panic(fmt.Sprintf("handshake: blob of %d bytes, at most %d are allowed", len(blob), MaxBlob))
	}
	return a.judge(out, accepted, blob)
}

// Refuse appends the message that tells the connector why it is not let in. The
// reason is cut to what fits.
func (a *Acceptor) Refuse(out []byte, code Code, reason string) []byte {
	if len(reason) > MaxBlob {
		reason = reason[:MaxBlob]
	}
	return a.judge(out, code, []byte(reason))
}

func (a *Acceptor) judge(out []byte, code Code, blob []byte) []byte {
	if a.state != awaitJudgement {
		panic("handshake: a verdict on a connector that has not proved itself")
	}
	a.state = over
	head := [4]byte{0: byte(code)}
	binary.LittleEndian.PutUint16(head[2:], uint16(len(blob)))
	out = append(out, head[:]...)
	out = a.id.prove(out, wordVerdict, a.hello[:], &a.in.nonce, head[:], blob)
	return append(out, blob...)
}
