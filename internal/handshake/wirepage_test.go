package handshake

import (
	"bytes"
	"crypto/ecdh"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/wirepage"
)

// docs/WIRE.md states the sizes that the code has.
func TestWirePage(t *testing.T) {
	page := wirepage.Sizes(t)
	assert.Equal(t, page["HELLO"], helloSize)
	assert.Equal(t, page["CHALLENGE"], challengeSize)
	assert.Equal(t, page["PROOF"], blobHead)
	assert.Equal(t, page["VERDICT"], blobHead)
	assert.Equal(t, MaxBlob, 4608, "docs/WIRE.md names it")

	var codes []string
	for c := accepted; c <= maxCode; c++ {
		codes = append(codes, fmt.Sprint(uint8(c), " ", c))
	}
	assert.Contains(t, wirepage.Text(t), "| "+strings.Join(codes, ", ")+" |")
	assert.Contains(t, wirepage.Text(t), fmt.Sprintf("| version of the handshake and of what follows it, %d |", Version))
}

// docs/WIRE.md has an example of a handshake, byte by byte.
func TestWireVectors(t *testing.T) {
	keys := func(b byte) *KeyPair {
		private, err := ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{b}, KeySize))
		require.NoError(t, err)
		return &KeyPair{private}
	}
	secret, three, five := bytes.Repeat([]byte{1}, 32), keys(3), keys(5)
	pair, err := NewIdentity("job", secret, 3).Pair(three, 5, five.Public())
	require.NoError(t, err)
	c := NewIdentity("job", secret, 3).Over("tcp").NewConnector(request(), pair, []byte("from C"), nil, nonce(0x0c))
	a := NewIdentity("job", secret, 5).Over("tcp").NewAcceptor(nonce(0x0a), nil, admitAll)
	_, _, err = a.Feed(c.Hello())
	require.NoError(t, err)
	challenge := a.Answer(pair)
	proof, _, err := c.Feed(challenge)
	require.NoError(t, err)
	_, proved, err := feed(a, proof, whole)
	require.NoError(t, err)
	require.True(t, proved)
	verdict := a.Accept([]byte("from A"))
	_, done, err := feed(c, verdict, whole)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, wirepage.Vectors(t), map[string]string{
		"public key of 3":       hex.EncodeToString(three.Public()),
		"public key of 5":       hex.EncodeToString(five.Public()),
		"pair key":              hex.EncodeToString(pair),
		"HELLO":                 hex.EncodeToString(c.Hello()),
		"CHALLENGE":             hex.EncodeToString(challenge),
		"PROOF":                 hex.EncodeToString(proof),
		"VERDICT":               hex.EncodeToString(verdict),
		`key for the label "x"`: hex.EncodeToString(c.Session().Key("x")),
	})
}
