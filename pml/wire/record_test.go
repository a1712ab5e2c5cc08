package wire

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecordRefuses(t *testing.T) {
	public := bytes.Repeat([]byte{9}, KeySize)
	good := EncodeRecord(public, []byte("hello"))
	key, hello, err := DecodeRecord(good)
	require.NoError(t, err)
	require.Equal(t, public, key)
	require.Equal(t, "hello", string(hello))
	for n := range recordHead {
		_, _, err := DecodeRecord(good[:n])
		require.ErrorIs(t, err, errShortHello, "%d bytes", n)
	}
	_, _, err = DecodeRecord(EncodeRecord(public, make([]byte, MaxHello+1)))
	require.ErrorContains(t, err, "more than 4129")
	// What processes without a key have published is its hello alone.
	old, err := (&Hello{Host: "h"}).Encode()
	require.NoError(t, err)
	old[0] = 2
	_, _, err = DecodeRecord(old)
	require.ErrorContains(t, err, "it has version 2, not 3: all processes must run the same version")
	old[0] = 1
	_, _, err = DecodeRecord(old)
	require.ErrorContains(t, err, "it has version 1, not 3: all processes must run the same version")
	// And a record is none.
	_, err = DecodeHello(good)
	require.ErrorContains(t, err, "it has version 3, not 6: all processes must run the same version")
}

// FuzzRecord: what is taken is what the encoder would have written.
func FuzzRecord(f *testing.F) {
	f.Add(EncodeRecord(make([]byte, KeySize), []byte("hello")))
	f.Fuzz(func(t *testing.T, b []byte) {
		if public, hello, err := DecodeRecord(b); err == nil {
			require.Equal(t, b, EncodeRecord(public, hello))
		}
	})
}
