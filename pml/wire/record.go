package wire

import "fmt"

// A process publishes a record in the job's key-value space: its version, its public key, and
// the hello that has its addresses.
const (
	// recordVersion is the first byte. A process without a key published its hello alone, whose
	// version, 1 or 2, stands in the same place.
	recordVersion = 3
	// KeySize is the length of a public key in bytes.
	KeySize    = 32
	recordHead = 1 + KeySize
)

// EncodeRecord writes the record of a process with that public key.
func EncodeRecord(public, hello []byte) []byte {
	return append(append([]byte{recordVersion}, public...), hello...)
}

// DecodeRecord reads what a process has published. The results share memory with b.
func DecodeRecord(b []byte) (public, hello []byte, err error) {
	switch {
	case len(b) == 0:
		return nil, nil, errShortHello
	case b[0] != recordVersion:
		return nil, nil, fmt.Errorf("it has version %d, not %d: all processes must run the same version", b[0], recordVersion)
	case len(b) < recordHead:
		return nil, nil, errShortHello
	case len(b) > recordHead+MaxHello:
		return nil, nil, fmt.Errorf("it has %d bytes, more than %d", len(b), recordHead+MaxHello)
	}
	return b[1:recordHead], b[recordHead:], nil
}
