package handshake

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var (
	secret = []byte("0123456789abcdef0123456789abcdef")
	target = netip.MustParseAddrPort("10.8.47.2:59822")
	pair   = bytes.Repeat([]byte{7}, KeySize) // what ranks 3 and 5 share
)

func request() Request {
	return Request{From: 3, To: 5, Epoch: 7, Known: 6, Path: 2, Target: target}
}

func nonce(b byte) (n [NonceSize]byte) {
	for i := range n {
		n[i] = b
	}
	return n
}

func admitAll(Request) error { return nil }

// id is a rank of the job, connector and acceptor are machines of it.
func id(rank int) *Identity { return NewIdentity("job", secret, rank) }

func connector(id *Identity, r Request, blob string, n byte) *Connector {
	return id.NewConnector(r, pair, []byte(blob), nil, nonce(n))
}

func acceptor(n byte) *Acceptor { return id(5).NewAcceptor(nonce(n), nil, admitAll) }

// parties makes both machines of a handshake that succeeds.
func parties() (*Connector, *Acceptor) {
	return connector(id(3), request(), "from C", 1), acceptor(2)
}

// feeder is either machine.
type feeder interface {
	Need() int
	Feed(b []byte) ([]byte, bool, error)
}

// feed gives a machine all of b, cut by cut, and returns its answer. An acceptor gets its pair
// key when it needs it.
func feed(f feeder, b []byte, cut func(most int) int) (out []byte, done bool, err error) {
	for len(b) > 0 && !done {
		n := min(len(b), f.Need())
		if n == 0 {
			return out, done, ErrState
		}
		n = cut(n)
		var said []byte
		said, done, err = f.Feed(b[:n])
		out = append(out, said...)
		if err != nil {
			return out, done, err
		}
		if a, is := f.(*Acceptor); is && a.Claimed() {
			out = append(out, a.Answer(pair)...)
		}
		b = b[n:]
	}
	return out, done, nil
}

func whole(most int) int { return most }

func TestHandshake(t *testing.T) {
	c, a := parties()
	challenge, done, err := feed(a, c.Hello(), whole)
	require.NoError(t, err)
	require.False(t, done)
	require.Equal(t, request(), a.Request())
	require.Len(t, challenge, challengeSize)
	require.False(t, c.Proved())

	proof, done, err := feed(c, challenge, whole)
	require.NoError(t, err)
	require.False(t, done)
	require.True(t, c.Proved())

	none, done, err := feed(a, proof, whole)
	require.NoError(t, err)
	require.True(t, done)
	require.Empty(t, none)
	require.Equal(t, "from C", string(a.Peer()))
	require.Zero(t, a.Need())

	_, done, err = feed(c, a.Accept([]byte("from A")), whole)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, "from A", string(c.Peer()))
	require.Zero(t, c.Need())
	_, _, err = c.Feed([]byte{1})
	require.ErrorIs(t, err, ErrState)
}

func TestRefusal(t *testing.T) {
	for code := Duplicate; code <= maxCode; code++ {
		c, a := parties()
		challenge, _, _ := feed(a, c.Hello(), whole)
		proof, _, _ := feed(c, challenge, whole)
		_, done, err := feed(a, proof, whole)
		require.NoError(t, err)
		require.True(t, done)
		_, done, err = feed(c, a.Refuse(code, "because\x1b["), whole)
		require.False(t, done)
		var refused *RefusedError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, code, refused.Code)
		require.Equal(t, "because?[", refused.Reason)
		require.Contains(t, err.Error(), code.String())
	}
}

// run plays a handshake in which every message may be changed on its way, and
// returns what each side says. A nil error means success.
func run(c *Connector, a *Acceptor, change func(step int, b []byte) []byte) (atC, atA error) {
	open := errors.New("not finished")
	challenge, _, err := feed(a, change(0, c.Hello()), whole)
	if err != nil {
		return open, err
	}
	proof, _, err := feed(c, change(1, challenge), whole)
	if err != nil {
		return err, open
	}
	_, done, err := feed(a, change(2, proof), whole)
	if err != nil || !done {
		return open, errors.Join(err, open)
	}
	_, done, err = feed(c, change(3, a.Accept([]byte("from A"))), whole)
	if err != nil || !done {
		return errors.Join(err, open), nil
	}
	return nil, nil
}

func asIs(_ int, b []byte) []byte { return b }

func TestStrangers(t *testing.T) {
	other := bytes.Repeat([]byte("x"), KeySize)
	r := request()
	tests := []struct {
		name     string
		c        *Connector
		a        *Acceptor
		atC, atA error
	}{
		{"the connector of another job", connector(NewIdentity("other", secret, 3), r, "", 1), acceptor(2), nil, ErrJob},
		{"another rank", connector(id(3), r, "", 1), id(6).NewAcceptor(nonce(2), nil, admitAll), nil, ErrRank},
		{"one's own rank", connector(id(5), Request{From: 5, To: 5, Target: target}, "", 1), acceptor(2), nil, ErrRank},
		{"not admitted", connector(id(3), r, "", 1),
			id(5).NewAcceptor(nonce(2), nil, func(Request) error { return ErrTarget }), nil, ErrTarget},
		{"another secret", connector(NewIdentity("job", other, 3), r, "", 1), acceptor(2), nil, ErrSecret},
		// A process that knows the secret, but not the key that the two ranks share, is told
		// nothing. It notices itself.
		{"another key", id(3).NewConnector(r, other, nil, nil, nonce(1)), acceptor(2), ErrProof, nil},
		{"another channel", id(3).NewConnector(r, pair, nil, []byte("TLS"), nonce(1)),
			id(5).NewAcceptor(nonce(2), []byte("other TLS"), admitAll), ErrProof, nil},
		{"another transport", connector(id(3).Over("udp"), r, "", 1), id(5).Over("tcp").NewAcceptor(nonce(2), nil, admitAll), ErrProof, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			atC, atA := run(test.c, test.a, asIs)
			require.Error(t, atC)
			require.Error(t, atA)
			if test.atC != nil {
				require.ErrorIs(t, atC, test.atC)
			}
			if test.atA != nil {
				require.ErrorIs(t, atA, test.atA)
			}
		})
	}
}

// Whoever does not have the mark of the secret is not looked at: not even the launcher is asked
// for its key.
func TestStrangersCostNothing(t *testing.T) {
	asked := false
	a := id(5).NewAcceptor(nonce(2), nil, func(Request) error { asked = true; return nil })
	_, _, err := feed(a, connector(NewIdentity("job", []byte("no secret"), 3), request(), "", 1).Hello(), whole)
	require.ErrorIs(t, err, ErrSecret)
	require.False(t, asked)
	require.False(t, a.Claimed())
}

// A reader of the launcher's channel has the secret and the public keys. Even if he does not check
// the challenge he gets no further, neither as the rank that connects nor as the one that accepts.
func TestForgedProof(t *testing.T) {
	own := bytes.Repeat([]byte("x"), KeySize)
	a := acceptor(2)
	forger := id(3).NewConnector(request(), own, nil, nil, nonce(1))
	challenge, _, err := feed(a, forger.Hello(), whole)
	require.NoError(t, err)
	forger.said.add(challenge[:challengeHead])
	forger.keys = newKeys(own, forger.said)
	forger.said.add(challenge[challengeHead:])
	head := []byte{0, 0, 0, 0}
	forger.said.add(head)
	_, done, err := feed(a, forger.keys.prove(head, wordProof, forger.said), whole)
	require.ErrorIs(t, err, ErrProof)
	require.False(t, done)

	c := connector(id(3), request(), "from C", 1)
	a = acceptor(2)
	_, _, err = a.Feed(c.Hello())
	require.NoError(t, err)
	out, _, err := feed(c, a.Answer(own), whole)
	require.ErrorIs(t, err, ErrProof)
	require.Empty(t, out, "nothing is told to who has not proved itself")
	require.False(t, c.Proved())
}

// A side's own proofs, sent back to it, prove nothing.
func TestReflection(t *testing.T) {
	c, a := parties()
	challenge, _, err := feed(a, c.Hello(), whole)
	require.NoError(t, err)
	// The acceptor's own proof, sent back as the connector's.
	_, done, err := feed(a, append([]byte{0, 0, 0, 0}, challenge[challengeHead:]...), whole)
	require.ErrorIs(t, err, ErrProof)
	require.False(t, done)
	// The connector's own hello, and its proof, sent back.
	_, _, err = feed(c, c.Hello()[:challengeSize], whole)
	require.ErrorIs(t, err, ErrMagic)
	c, a = parties()
	challenge, _, _ = feed(a, c.Hello(), whole)
	proof, _, err := feed(c, challenge, whole)
	require.NoError(t, err)
	proof[2], proof[3] = proof[0], proof[1] // where a verdict has its length
	proof[0], proof[1] = 0, 0
	_, done, err = feed(c, proof, whole)
	require.ErrorIs(t, err, ErrProof)
	require.False(t, done)
}

// A process of another version is told so. One of another job is told nothing.
func TestOtherVersion(t *testing.T) {
	old := connector(id(3), request(), "", 1).Hello()
	old[4] = 1
	out, _, err := feed(acceptor(2), old, whole)
	require.ErrorIs(t, err, ErrVersion)
	require.ErrorContains(t, err, "theirs is 1, ours 2")
	require.Less(t, len(out), len(old))
	_, _, err = feed(connector(id(3), request(), "", 1), out, whole)
	require.ErrorIs(t, err, ErrProof, "to our own version it says nothing")
	out[4] = 3
	_, _, err = feed(connector(id(3), request(), "", 1), out, whole)
	require.ErrorContains(t, err, "theirs is 3, ours 2")

	old = connector(NewIdentity("other", secret, 3), request(), "", 1).Hello()
	old[4] = 1
	out, _, err = feed(acceptor(2), old, whole)
	require.ErrorIs(t, err, ErrVersion)
	require.Empty(t, out)
}

// An attacker has the messages of honest handshakes between the same ranks. He gives any of them to
// any machine, at any time, as they are or changed in one place. A machine succeeds only if it gets
// each message of its own handshake, in order.
func TestAttackersGetNowhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var heard [][]byte
		var cs []*Connector
		var as []*Acceptor
		const both = 3
		for n := range byte(both) {
			c, a := connector(id(3), request(), "from C", 10+n), acceptor(20+n)
			heard = append(heard, c.Hello())
			cs, as = append(cs, c), append(as, a)
		}
		keep := func(b []byte) {
			if len(b) > 0 {
				heard = append(heard, b)
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			b := bytes.Clone(rapid.SampledFrom(heard).Draw(t, "message"))
			forged := rapid.IntRange(0, 3).Draw(t, "changed") == 0
			if forged {
				b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			}
			i := rapid.IntRange(0, both-1).Draw(t, "whom")
			if rapid.Bool().Draw(t, "a connector") {
				before := *cs[i]
				out, done, err := feed(cs[i], b, whole)
				must(t, !forged || err != nil || !done, "a connector believes what was changed")
				if err != nil {
					*cs[i] = before
				} else {
					keep(out)
				}
				continue
			}
			before := *as[i]
			out, done, err := feed(as[i], b, whole)
			must(t, !forged || err != nil || !done, "an acceptor believes what was changed")
			switch {
			case err != nil:
				*as[i] = before
			case done:
				keep(as[i].Accept([]byte("from A")))
			default:
				keep(out)
			}
		}
		// Those that are done have partners that have said and heard the same.
		for _, c := range cs {
			if c.session == nil {
				continue
			}
			partners := 0
			for _, a := range as {
				if a.session != nil && *a.session == *c.session {
					partners++
					must(t, a.said == c.said, "they share a key and not what was said")
				}
			}
			must(t, partners == 1, "who is done has one partner")
		}
	})
}

func TestReplay(t *testing.T) {
	var said [4][]byte
	c, a := parties()
	atC, atA := run(c, a, func(i int, b []byte) []byte { said[i] = bytes.Clone(b); return b })
	require.NoError(t, atC)
	require.NoError(t, atA)

	// All that C said, again, to an acceptor with a new nonce.
	again := acceptor(3)
	_, _, err := feed(again, said[0], whole)
	require.NoError(t, err)
	_, done, err := feed(again, said[2], whole)
	require.ErrorIs(t, err, ErrProof)
	require.False(t, done)

	// All that A said, again, to a connector with a new nonce.
	fresh := connector(id(3), request(), "", 4)
	_, _, err = feed(fresh, said[1], whole)
	require.ErrorIs(t, err, ErrProof)
}

// Whatever single bit is changed on the way, nobody ends up connected to
// somebody who believes something else.
func TestEveryBitCounts(t *testing.T) {
	var lengths [4]int
	c, a := parties()
	_, _ = run(c, a, func(i int, b []byte) []byte { lengths[i] = len(b); return b })
	for step, length := range lengths {
		for bit := range length * 8 {
			c, a := parties()
			atC, atA := run(c, a, func(i int, b []byte) []byte {
				if i == step {
					b = bytes.Clone(b)
					b[bit/8] ^= 1 << (bit % 8)
				}
				return b
			})
			require.Error(t, atC, "message %d, bit %d", step, bit)
			if step < 3 {
				require.Error(t, atA, "message %d, bit %d", step, bit)
			}
		}
	}
}

func TestCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blobC := rapid.SliceOfN(rapid.Byte(), 0, MaxBlob).Draw(t, "blob of C")
		blobA := rapid.SliceOfN(rapid.Byte(), 0, MaxBlob).Draw(t, "blob of A")
		r := Request{
			From: rapid.IntRange(0, maxRank).Draw(t, "from"), To: 5,
			Epoch: rapid.Uint32().Draw(t, "epoch"), Known: rapid.Uint32().Draw(t, "known"),
			Path:   int(rapid.Uint16().Draw(t, "path")),
			Target: netip.AddrPortFrom(netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "ip"))).Unmap(), rapid.Uint16().Draw(t, "port")),
		}
		if r.From == r.To {
			r.From++
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		cut := func(most int) int { return 1 + random.IntN(most) }
		c := connector(id(r.From), r, string(blobC), 1)
		a := acceptor(2)
		challenge, _, err := feed(a, c.Hello(), cut)
		must(t, err == nil, err)
		proof, _, err := feed(c, challenge, cut)
		must(t, err == nil, err)
		_, done, err := feed(a, proof, cut)
		must(t, err == nil && done, err)
		_, done, err = feed(c, a.Accept(blobA), cut)
		must(t, err == nil && done, err)
		must(t, a.Request() == r, a.Request())
		must(t, bytes.Equal(a.Peer(), blobC) && bytes.Equal(c.Peer(), blobA), "blobs")
	})
}

func must(t *rapid.T, ok bool, what any) {
	t.Helper()
	if !ok {
		t.Fatalf("%v", what)
	}
}

func TestMalformed(t *testing.T) {
	hello := func(change func(b []byte)) []byte {
		c, _ := parties()
		b := c.Hello()
		change(b)
		return b
	}
	tests := []struct {
		name string
		b    []byte
		want error
	}{
		{"HTTP", []byte(strings.Repeat("GET / HTTP/1.1\r\n", 10)), ErrMagic},
		{"zeros", make([]byte, helloSize), ErrMagic},
		{"version and job", hello(func(b []byte) { b[4], b[8] = 9, b[8]+1 }), ErrVersion},
		{"reserved", hello(func(b []byte) { b[58] = 1 }), ErrFormat},
		{"no mark", hello(func(b []byte) { b[60]++ }), ErrSecret},
		{"wild rank", hello(func(b []byte) { b[27] = 0xff }), ErrFormat},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, a := parties()
			out, done, err := feed(a, test.b, whole)
			require.ErrorIs(t, err, test.want)
			require.Empty(t, out, "an unproved peer is told nothing")
			require.False(t, done)
		})
	}
}

// Another program is recognised by its first bytes: it may have no more to say, and wait.
func TestAnotherProgramsFirstBytes(t *testing.T) {
	for _, said := range []string{"2", "GET /", "220 mail\r\n", "STRX"} {
		c, a := parties()
		for name, side := range map[string]feeder{"connector": c, "acceptor": a} {
			out, _, err := feed(side, []byte(said), whole)
			require.ErrorIs(t, err, ErrMagic, "%s, %q", name, said)
			require.Empty(t, out)
			require.Zero(t, side.Need())
		}
	}
}

func TestBlobTooLong(t *testing.T) {
	c, a := parties()
	challenge, _, _ := feed(a, c.Hello(), whole)
	proof, _, _ := feed(c, challenge, whole)
	proof[0], proof[1] = 0xff, 0xff
	_, _, err := feed(a, proof, whole)
	require.ErrorIs(t, err, ErrFormat)
	require.Panics(t, func() { id(3).NewConnector(request(), pair, make([]byte, MaxBlob+1), nil, nonce(1)) })
	require.Panics(t, func() { a.Accept(nil) })
	require.Panics(t, func() { a.Answer(pair) })
}

// FuzzAcceptor: nobody gets in without the secret, whatever is said.
func FuzzAcceptor(f *testing.F) {
	c, a := parties()
	f.Add(c.Hello())
	challenge, _, _ := feed(a, c.Hello(), whole)
	proof, _, _ := feed(c, challenge, whole)
	f.Add(append(c.Hello(), proof...))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a := acceptor(77)
		if _, done, err := feed(a, b, whole); done && err == nil {
			t.Fatal("let in")
		}
	})
}

// FuzzConnector: nobody is believed without the secret, whatever is said.
func FuzzConnector(f *testing.F) {
	c, a := parties()
	challenge, _, _ := feed(a, c.Hello(), whole)
	f.Add(challenge)
	f.Add(append(challenge, make([]byte, blobHead)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := connector(id(3), request(), "", 78)
		if _, done, err := feed(c, b, whole); done && err == nil {
			t.Fatal("believed")
		}
	})
}

// FuzzAfterProof: what follows a good challenge is not believed either.
func FuzzAfterProof(f *testing.F) {
	f.Add(make([]byte, blobHead))
	f.Add([]byte{1, 0, 2, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, a := parties()
		challenge, _, _ := feed(a, c.Hello(), whole)
		if _, _, err := feed(c, challenge, whole); err != nil {
			t.Fatal(err)
		}
		if _, done, err := feed(c, b, whole); done && err == nil {
			t.Fatal("believed")
		}
	})
}

func FuzzHello(f *testing.F) {
	c, _ := parties()
	f.Add(c.Hello())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, _, err := parseHello(b)
		if err != nil {
			return
		}
		var n [NonceSize]byte
		copy(n[:], b[76:])
		again := id(3).appendHello(nil, r, n)
		if r2, job, err := parseHello(again); err != nil || r2 != r || job != id(3).job || !id(3).marked(again) {
			t.Fatalf("%+v became %+v: %v", r, r2, err)
		}
	})
}

func Example() {
	secret := []byte("known to the processes of the job")
	zero, one := NewIdentity("job", secret, 0), NewIdentity("job", secret, 1)
	own, other := NewKeyPair(), NewKeyPair() // of which each publishes its public half
	pair0, _ := zero.Pair(own, 1, other.Public())
	pair1, _ := one.Pair(other, 0, own.Public())
	c := zero.NewConnector(
		Request{From: 0, To: 1, Epoch: 1, Target: netip.MustParseAddrPort("10.0.0.2:7000")}, pair0, []byte("I am 0"), nil, nonce(1))
	a := one.NewAcceptor(nonce(2), nil, func(Request) error { return nil })

	_, _, _ = a.Feed(c.Hello())
	proof, _, _ := c.Feed(a.Answer(pair1))
	var proved bool
	for len(proof) > 0 && !proved { // in the portions that the machine asks for
		n := min(a.Need(), len(proof))
		_, proved, _ = a.Feed(proof[:n])
		proof = proof[n:]
	}
	fmt.Printf("rank %d says %q\n", a.Request().From, a.Peer())
	// Output: rank 0 says "I am 0"
}
