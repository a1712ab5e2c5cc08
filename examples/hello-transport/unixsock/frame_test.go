package unixsock

import (
	"bytes"
	"testing"

	"github.com/strandmp/strand/btl"
)

// What a peer sends never makes readFrame panic, and what it takes is what
// encode writes.
func FuzzReadFrame(f *testing.F) {
	f.Add(encode(&btl.Frame{Header: []byte{1}, Payload: []byte("payload"), Size: 7}))
	f.Add(goodbye)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		header, payload, err := readFrame(bytes.NewReader(b), make([]byte, btl.MaxHeader+maxFrame))
		if err != nil {
			return
		}
		again := encode(&btl.Frame{Header: header, Payload: payload, Size: len(payload)})
		if !bytes.HasPrefix(b, again) {
			t.Errorf("%x was read as %x", b, again)
		}
	})
}
