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

// parties makes both machines of a handshake that succeeds.
func parties() (*Connector, *Acceptor) {
	c := NewIdentity("job", secret, 3).NewConnector(request(), []byte("from C"), nonce(1))
	a := NewIdentity("job", secret, 5).NewAcceptor(nonce(2), admitAll)
	return c, a
}

// feeder is either machine.
type feeder interface {
	Need() int
	Feed(b, out []byte) ([]byte, bool, error)
}

// feed gives a machine all of b, cut by cut, and returns its answer.
func feed(f feeder, b []byte, cut func(most int) int) (out []byte, done bool, err error) {
	for len(b) > 0 && !done {
		n := min(len(b), f.Need())
		if n == 0 {
			return out, done, ErrState
		}
		n = cut(n)
		if out, done, err = f.Feed(b[:n], out); err != nil {
			return out, done, err
		}
		b = b[n:]
	}
	return out, done, nil
}

func whole(most int) int { return most }

func TestHandshake(t *testing.T) {
	c, a := parties()
	challenge, done, err := feed(a, c.Hello(nil), whole)
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

	_, done, err = feed(c, a.Accept(nil, []byte("from A")), whole)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, "from A", string(c.Peer()))
	require.Zero(t, c.Need())
	_, _, err = c.Feed([]byte{1}, nil)
	require.ErrorIs(t, err, ErrState)
}

func TestRefusal(t *testing.T) {
	for code := Duplicate; code <= maxCode; code++ {
		c, a := parties()
		challenge, _, _ := feed(a, c.Hello(nil), whole)
		proof, _, _ := feed(c, challenge, whole)
		_, done, err := feed(a, proof, whole)
		require.NoError(t, err)
		require.True(t, done)
		_, done, err = feed(c, a.Refuse(nil, code, "because\x1b["), whole)
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
	challenge, _, err := feed(a, change(0, c.Hello(nil)), whole)
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
	_, done, err = feed(c, change(3, a.Accept(nil, []byte("from A"))), whole)
	if err != nil || !done {
		return errors.Join(err, open), nil
	}
	return nil, nil
}

func asIs(_ int, b []byte) []byte { return b }

func TestStrangers(t *testing.T) {
	other := bytes.Repeat([]byte("x"), 32)
	r := request()
	tests := []struct {
		name     string
		c        *Connector
		a        *Acceptor
		atC, atA error
	}{
		{"the connector of another job", NewIdentity("other", secret, 3).NewConnector(r, nil, nonce(1)),
			NewIdentity("job", secret, 5).NewAcceptor(nonce(2), admitAll), nil, ErrJob},
		{"another rank", NewIdentity("job", secret, 3).NewConnector(r, nil, nonce(1)),
			NewIdentity("job", secret, 6).NewAcceptor(nonce(2), admitAll), nil, ErrRank},
		{"one's own rank", NewIdentity("job", secret, 5).NewConnector(Request{From: 5, To: 5, Target: target}, nil, nonce(1)),
			NewIdentity("job", secret, 5).NewAcceptor(nonce(2), admitAll), nil, ErrRank},
		{"not admitted", NewIdentity("job", secret, 3).NewConnector(r, nil, nonce(1)),
			NewIdentity("job", secret, 5).NewAcceptor(nonce(2), func(Request) error { return ErrTarget }), nil, ErrTarget},
		// The acceptor's challenge already shows that it holds another secret.
		{"another secret", NewIdentity("job", other, 3).NewConnector(r, nil, nonce(1)),
			NewIdentity("job", secret, 5).NewAcceptor(nonce(2), admitAll), ErrProof, nil},
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

// A stranger who does not check the challenge gets no further.
func TestForgedProof(t *testing.T) {
	_, a := parties()
	forger := NewIdentity("job", bytes.Repeat([]byte("x"), 32), 3).NewConnector(request(), nil, nonce(1))
	challenge, _, err := feed(a, forger.Hello(nil), whole)
	require.NoError(t, err)
	n, _, err := parseChallenge(challenge)
	require.NoError(t, err)
	head := []byte{0, 0, 0, 0}
	proof := forger.id.prove(head, wordProof, forger.hello[:], &n, head)
	_, done, err := feed(a, proof, whole)
	require.ErrorIs(t, err, ErrProof)
	require.False(t, done)
}

// A stranger who connects back and passes on what it hears learns a challenge
// for another handshake, which proves nothing here.
func TestReflection(t *testing.T) {
	_, a := parties()
	stranger := NewIdentity("job", []byte("no secret"), 3).NewConnector(request(), nil, nonce(9))
	challenge, _, err := feed(a, stranger.Hello(nil), whole)
	require.NoError(t, err)
	n, proof, err := parseChallenge(challenge)
	require.NoError(t, err)
	// The acceptor's own proof, sent back as the connector's.
	_, done, err := feed(a, append([]byte{0, 0, 0, 0}, proof...), whole)
	require.ErrorIs(t, err, ErrProof)
	require.False(t, done)

	// The proof of an honest connector of another handshake with the same nonce.
	c, a2 := parties()
	a2.in.nonce = n
	challenge, _, err = feed(a2, c.Hello(nil), whole)
	require.NoError(t, err)
	honest, _, err := feed(c, challenge, whole)
	require.NoError(t, err)
	a3 := NewIdentity("job", secret, 5).NewAcceptor(n, admitAll)
	_, _, err = feed(a3, stranger.Hello(nil), whole)
	require.NoError(t, err)
	_, done, err = feed(a3, honest, whole)
	require.ErrorIs(t, err, ErrProof)
	require.False(t, done)
}

func TestReplay(t *testing.T) {
	var said [4][]byte
	c, a := parties()
	atC, atA := run(c, a, func(i int, b []byte) []byte { said[i] = bytes.Clone(b); return b })
	require.NoError(t, atC)
	require.NoError(t, atA)

	// All that C said, again, to an acceptor with a new nonce.
	again := NewIdentity("job", secret, 5).NewAcceptor(nonce(3), admitAll)
	_, _, err := feed(again, said[0], whole)
	require.NoError(t, err)
	_, done, err := feed(again, said[2], whole)
	require.ErrorIs(t, err, ErrProof)
	require.False(t, done)

	// All that A said, again, to a connector with a new nonce.
	fresh := NewIdentity("job", secret, 3).NewConnector(request(), nil, nonce(4))
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
		c := NewIdentity("job", secret, r.From).NewConnector(r, blobC, nonce(1))
		a := NewIdentity("job", secret, 5).NewAcceptor(nonce(2), admitAll)
		challenge, _, err := feed(a, c.Hello(nil), cut)
		must(t, err == nil, err)
		proof, _, err := feed(c, challenge, cut)
		must(t, err == nil, err)
		_, done, err := feed(a, proof, cut)
		must(t, err == nil && done, err)
		_, done, err = feed(c, a.Accept(nil, blobA), cut)
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
		b := c.Hello(nil)
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
		{"version", hello(func(b []byte) { b[4] = 9 }), ErrVersion},
		{"reserved", hello(func(b []byte) { b[60] = 1 }), ErrFormat},
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

func TestBlobTooLong(t *testing.T) {
	c, a := parties()
	challenge, _, _ := feed(a, c.Hello(nil), whole)
	proof, _, _ := feed(c, challenge, whole)
	proof[0], proof[1] = 0xff, 0xff
	_, _, err := feed(a, proof, whole)
	require.ErrorIs(t, err, ErrFormat)
	require.Panics(t, func() { c.id.NewConnector(request(), make([]byte, MaxBlob+1), nonce(1)) })
	require.Panics(t, func() { a.Accept(nil, nil) })
}

// FuzzAcceptor: nobody gets in without the secret, whatever is said.
func FuzzAcceptor(f *testing.F) {
	c, a := parties()
	f.Add(c.Hello(nil))
	challenge, _, _ := feed(a, c.Hello(nil), whole)
	proof, _, _ := feed(c, challenge, whole)
	f.Add(append(c.Hello(nil), proof...))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a := NewIdentity("job", secret, 5).NewAcceptor(nonce(77), admitAll)
		if _, done, err := feed(a, b, whole); done && err == nil {
			t.Fatal("let in")
		}
	})
}

// FuzzConnector: nobody is believed without the secret, whatever is said.
func FuzzConnector(f *testing.F) {
	c, a := parties()
	challenge, _, _ := feed(a, c.Hello(nil), whole)
	f.Add(challenge)
	f.Add(append(challenge, make([]byte, blobHead)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := NewIdentity("job", secret, 3).NewConnector(request(), nil, nonce(78))
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
		challenge, _, _ := feed(a, c.Hello(nil), whole)
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
	f.Add(c.Hello(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, job, err := parseHello(b)
		if err != nil {
			return
		}
		var n [NonceSize]byte
		copy(n[:], b[76:])
		again := appendHello(nil, job, r, n)
		if r2, job2, err := parseHello(again); err != nil || r2 != r || job2 != job {
			t.Fatalf("%+v became %+v: %v", r, r2, err)
		}
	})
}

func Example() {
	secret := []byte("known to the processes of the job")
	c := NewIdentity("job", secret, 0).NewConnector(
		Request{From: 0, To: 1, Epoch: 1, Target: netip.MustParseAddrPort("10.0.0.2:7000")}, []byte("I am 0"), nonce(1))
	a := NewIdentity("job", secret, 1).NewAcceptor(nonce(2), func(Request) error { return nil })

	challenge, _, _ := a.Feed(c.Hello(nil), nil)
	proof, _, _ := c.Feed(challenge, nil)
	var proved bool
	for len(proof) > 0 && !proved { // in the portions that the machine asks for
		n := min(a.Need(), len(proof))
		_, proved, _ = a.Feed(proof[:n], nil)
		proof = proof[n:]
	}
	fmt.Printf("rank %d says %q\n", a.Request().From, a.Peer())
	// Output: rank 0 says "I am 0"
}
