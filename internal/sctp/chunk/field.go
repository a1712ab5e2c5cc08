package chunk

import (
	"encoding/binary"
	"net/netip"
)

// A Field is a parameter of an INIT, INIT ACK or HEARTBEAT, or a cause of an ABORT or ERROR: a code, and what
// belongs to it.
type Field struct {
	Code  uint16
	Value []byte
	Raw   []byte // with its header, without what it is padded with
}

// Codes of parameters (RFC 9260, section 3.3.2, and the RFC named).
const (
	ParamHeartbeat    = 1
	ParamIPv4         = 5
	ParamIPv6         = 6
	ParamCookie       = 7
	ParamUnrecognized = 8
	ParamPreservative = 9
	ParamHostName     = 11
	ParamAddressTypes = 12
	ParamECN          = 0x8000
	ParamZeroChecksum = 0x8001 // RFC 9653
	ParamExtensions   = 0x8008 // RFC 5061: the types of chunks that the sender knows
	ParamForward      = 0xc000 // RFC 3758
	ParamAdaptation   = 0xc006 // RFC 5061: a number that says what uses the association
)

// Codes of causes (RFC 9260, section 3.3.10).
const (
	CauseInvalidStream         = 1
	CauseMissingParameter      = 2
	CauseStaleCookie           = 3
	CauseOutOfResource         = 4
	CauseUnresolvableAddress   = 5
	CauseUnrecognizedChunk     = 6
	CauseInvalidParameter      = 7
	CauseUnrecognizedParameter = 8
	CauseNoUserData            = 9
	CauseShuttingDown          = 10
	CauseRestartAddresses      = 11
	CauseUser                  = 12
	CauseViolation             = 13
)

var causeNames = [...]string{
	CauseInvalidStream:         "a stream that does not exist",
	CauseMissingParameter:      "a parameter is missing",
	CauseStaleCookie:           "the cookie is too old",
	CauseOutOfResource:         "out of resources",
	CauseUnresolvableAddress:   "an address that can not be resolved",
	CauseUnrecognizedChunk:     "a chunk of an unknown type",
	CauseInvalidParameter:      "a parameter is invalid",
	CauseUnrecognizedParameter: "parameters of unknown types",
	CauseNoUserData:            "data without a byte",
	CauseShuttingDown:          "a cookie while the association shuts down",
	CauseRestartAddresses:      "a restart with new addresses",
	CauseUser:                  "its user has ended it",
	CauseViolation:             "a violation of the protocol",
}

// CauseName says what a cause means; "" if it is not known.
func CauseName(code uint16) string {
	if int(code) < len(causeNames) {
		return causeNames[code]
	}
	return ""
}

// Skip says what to do with a parameter whose code is not known: whether the rest of the chunk is to be
// looked at all the same, and whether the sender is to be told (section 3.2.1).
func (f Field) Skip() (on, report bool) { return f.Code&0x8000 != 0, f.Code&0x4000 != 0 }

// Fields are those of a chunk that are still to be looked at.
type Fields struct{ rest []byte }

// FieldsOf are those in some bytes.
func FieldsOf(b []byte) Fields { return Fields{b} }

// Causes are those of an ABORT or ERROR.
func Causes(c Chunk) Fields { return Fields{c.Value} }

// Next takes the next field. It ends at one that is not whole.
func (f *Fields) Next() (next Field, ok bool) {
	raw, ok := cut(&f.rest)
	if !ok {
		return Field{}, false
	}
	return Field{Code: binary.BigEndian.Uint16(raw), Value: raw[chunkHeader:], Raw: raw}, true
}

// Whole reports whether nothing is left: after Next has ended, that it was not for a field that is not whole.
func (f *Fields) Whole() bool { return len(f.rest) == 0 }

// BeginField begins a field, whose value the caller appends, up to [EndField].
func BeginField(b []byte, code uint16) (grown []byte, start int) {
	b = pad(b)
	return append(binary.BigEndian.AppendUint16(b, code), 0, 0), len(b)
}

// EndField ends the field that began at start. It is padded when another one follows: a chunk's length is
// without what its last field is padded with (RFC 9260, section 3.2).
func EndField(b []byte, start int) []byte {
	binary.BigEndian.PutUint16(b[start+2:], uint16(len(b)-start))
	return b
}

// AppendField appends a field.
func AppendField(b []byte, code uint16, value []byte) []byte {
	b, start := BeginField(b, code)
	return EndField(append(b, value...), start)
}

// AppendAddress appends the parameter of an address. Zones do not travel.
func AppendAddress(b []byte, a netip.Addr) []byte {
	if a = a.Unmap(); a.Is4() {
		v := a.As4()
		return AppendField(b, ParamIPv4, v[:])
	}
	v := a.As16()
	return AppendField(b, ParamIPv6, v[:])
}

// Address reads the parameter of an address.
func (f Field) Address() (a netip.Addr, ok bool) {
	switch {
	case f.Code == ParamIPv4 && len(f.Value) == 4, f.Code == ParamIPv6 && len(f.Value) == 16:
		a, ok = netip.AddrFromSlice(f.Value)
	}
	return a, ok
}

// Number reads a field that consists of a number.
func (f Field) Number() (n uint32, ok bool) {
	if len(f.Value) != 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(f.Value), true
}

// AppendNumberField appends a field that consists of a number.
func AppendNumberField(b []byte, code uint16, n uint32) []byte {
	b, start := BeginField(b, code)
	return EndField(binary.BigEndian.AppendUint32(b, n), start)
}
