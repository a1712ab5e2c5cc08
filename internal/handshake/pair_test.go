package handshake

import (
	"bytes"
	"crypto/ecdh"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPair(t *testing.T) {
	three, five, other := NewKeyPair(), NewKeyPair(), NewKeyPair()
	of := func(id *Identity, own *KeyPair, peer int, public []byte) string {
		key, err := id.Pair(own, peer, public)
		require.NoError(t, err)
		require.Len(t, key, KeySize)
		return string(key)
	}
	key := of(id(3), three, 5, five.Public())
	require.Equal(t, key, of(id(5), five, 3, three.Public()), "both derive the same")
	for name, k := range map[string]string{
		"another secret":      of(NewIdentity("job", []byte("other"), 3), three, 5, five.Public()),
		"another job":         of(NewIdentity("other", secret, 3), three, 5, five.Public()),
		"another rank":        of(id(3), three, 6, five.Public()),
		"as another rank":     of(id(4), three, 5, five.Public()),
		"another's key":       of(id(3), three, 5, other.Public()),
		"the reader's own":    of(id(3), other, 5, five.Public()),
		"the roles exchanged": of(id(5), three, 3, five.Public()),
	} {
		require.NotEqual(t, key, k, name)
	}
}

// Points of low order, with which the outcome is the same whoever computes it, and our own key
// sent back.
func TestUnusableKeys(t *testing.T) {
	own := NewKeyPair()
	bad := map[string][]byte{"none": nil, "short": make([]byte, KeySize-1), "long": make([]byte, KeySize+1), "our own": own.Public()}
	for _, point := range []string{ // RFC 7748, section 6.1; Bernstein's list
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
		"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	} {
		b, err := hex.DecodeString(point)
		require.NoError(t, err)
		bad[point] = b
	}
	for name, public := range bad {
		_, err := id(3).Pair(own, 5, public)
		require.ErrorIs(t, err, ErrKey, name)
		require.True(t, Final(err), name)
	}
}

// FuzzPair: whatever somebody publishes is refused, or gives a key that is not known without
// the private one.
func FuzzPair(f *testing.F) {
	own, err := ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{1}, KeySize))
	require.NoError(f, err)
	f.Add(own.PublicKey().Bytes())
	f.Add(make([]byte, KeySize))
	f.Fuzz(func(t *testing.T, public []byte) {
		key, err := id(3).Pair(&KeyPair{own}, 5, public)
		if (err == nil) != (len(key) == KeySize) {
			t.Fatalf("%x: %v", key, err)
		}
	})
}
