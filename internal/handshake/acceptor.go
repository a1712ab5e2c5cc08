package handshake

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// An Acceptor is the state machine of the side that accepts.
type Acceptor struct {
	id      *Identity
	request Request
	nonce   [NonceSize]byte
	admit   func(Request) error
	state   state
	in      collector
	said    transcript
	keys    keys
	session *Session
	peer    []byte
}

// NewAcceptor starts a handshake with whoever has connected. Nonce must be random and
// never used before. Binding is as for [Identity.NewConnector]. Admit looks at a request that is
// well-formed and names this rank, before anything is answered. The request is not proved then.
// An error of admit ends the handshake.
func (id *Identity) NewAcceptor(nonce [NonceSize]byte, binding []byte, admit func(Request) error) *Acceptor {
	a := &Acceptor{id: id, nonce: nonce, admit: admit, state: readHello, said: id.begin(binding)}
	a.in.expect(helloSize)
	return a
}

// Need is how many bytes the machine can use now, 0 when it waits for
// [Acceptor.Answer], [Acceptor.Accept] or [Acceptor.Refuse], or is over.
func (a *Acceptor) Need() int { return a.in.need() }

// Request is what the connector asks for. Until the connector has proved itself, the
// request is only a claim of somebody who has the job's secret, or has recorded a HELLO.
func (a *Acceptor) Request() Request { return a.request }

// Claimed reports whether the request waits for [Acceptor.Answer].
func (a *Acceptor) Claimed() bool { return a.state == awaitPair }

// Peer is what the connector told about itself, once it has proved itself.
func (a *Acceptor) Peer() []byte { return a.peer }

// Session is what both ends share, once the connector is let in.
func (a *Acceptor) Session() *Session { return a.session }

// Feed takes at most Need bytes and reports whether the connector has proved itself. If so,
// Accept or Refuse is to follow. If [Acceptor.Claimed] is true afterwards, Answer is to follow.
// After an error the connection is to be closed. Out is then empty, except for a process of this
// job that speaks another version: it is the message that tells it ours.
func (a *Acceptor) Feed(b []byte) (out []byte, proved bool, err error) {
	for len(b) > 0 {
		if a.Need() == 0 {
			return nil, false, ErrState
		}
		var whole bool
		if b, whole = a.in.take(b); !whole && !a.foreign() {
			return nil, false, nil
		}
		if out, err = a.step(); err != nil {
			a.state = over
			a.in.expect(0)
			return out, false, err
		}
		if a.state == awaitJudgement {
			return nil, true, nil
		}
	}
	return nil, false, nil
}

// foreign reports whether the first bytes are not those of a connector. They are not waited for until a
// HELLO is whole: another program may say less than that, and wait for an answer.
func (a *Acceptor) foreign() bool { return a.state == readHello && !a.in.begins(magicHello) }

func (a *Acceptor) step() ([]byte, error) {
	switch a.state {
	case readHello:
		return a.greeted(a.in.bytes())
	case readProof:
		return nil, a.provedBy()
	}
	return nil, ErrState
}

func (a *Acceptor) greeted(hello []byte) ([]byte, error) {
	r, job, err := parseHello(hello)
	if errors.Is(err, ErrVersion) && job == a.id.job {
		return appendChallenge(nil, [NonceSize]byte{}, make([]byte, macSize)), err
	}
	if err != nil {
		return nil, err
	}
	if job != a.id.job {
		return nil, ErrJob
	}
	if r.To != a.id.rank {
		return nil, fmt.Errorf("%w: it looks for rank %d, this is rank %d", ErrRank, r.To, a.id.rank)
	}
	if r.From == a.id.rank {
		return nil, fmt.Errorf("%w: it claims to be this rank, %d", ErrRank, r.From)
	}
	if !a.id.marked(hello) {
		return nil, ErrSecret
	}
	if err := a.admit(r); err != nil {
		return nil, err
	}
	a.request = r
	a.said.add(hello)
	a.state = awaitPair
	a.in.expect(0)
	return nil, nil
}

// Answer goes on with the key of this process and the rank of the request ([Identity.Pair]),
// and returns what is to be sent.
func (a *Acceptor) Answer(pair []byte) []byte {
	if a.state != awaitPair {
		panic("handshake: an answer to nobody")
	}
	a.state = readProof
	a.in.expect(blobHead)
	out := appendChallenge(nil, a.nonce, nil)
	a.said.add(out)
	a.keys = newKeys(pair, a.said)
	out = a.keys.prove(out, wordChallenge, a.said)
	a.said.add(out[challengeHead:])
	return out
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
	proof, blob := b[4:blobHead], b[blobHead:]
	a.said.add(b[:4], blob)
	if !a.keys.proves(proof, wordProof, a.said) {
		return ErrProof
	}
	a.said.add(proof)
	a.peer = blob
	a.state = awaitJudgement
	a.in.expect(0)
	return nil
}

// Accept returns the message that lets the connector in. Blob, of at most
// [MaxBlob] bytes, is what it is told about this side.
func (a *Acceptor) Accept(blob []byte) []byte {
	if len(blob) > MaxBlob {
		panic(fmt.Sprintf("handshake: blob of %d bytes, at most %d are allowed", len(blob), MaxBlob))
	}
	return a.judge(accepted, blob)
}

// Refuse returns the message that tells the connector why it is not let in. The
// reason is cut to what fits.
func (a *Acceptor) Refuse(code Code, reason string) []byte {
	if len(reason) > MaxBlob {
		reason = reason[:MaxBlob]
	}
	return a.judge(code, []byte(reason))
}

func (a *Acceptor) judge(code Code, blob []byte) []byte {
	if a.state != awaitJudgement {
		panic("handshake: a verdict on a connector that has not proved itself")
	}
	a.state = over
	head := [4]byte{0: byte(code)}
	binary.LittleEndian.PutUint16(head[2:], uint16(len(blob)))
	a.said.add(head[:], blob)
	out := a.keys.prove(head[:], wordVerdict, a.said)
	a.said.add(out[4:])
	a.session = a.keys.session(a.said)
	return append(out, blob...)
}
