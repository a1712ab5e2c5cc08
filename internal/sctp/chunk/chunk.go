package chunk

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A Type is a chunk's.
type Type uint8

// The types of chunks (RFC 9260, section 3.2, and the RFC named).
const (
	TypeData             Type = 0
	TypeInit             Type = 1
	TypeInitAck          Type = 2
	TypeSACK             Type = 3
	TypeHeartbeat        Type = 4
	TypeHeartbeatAck     Type = 5
	TypeAbort            Type = 6
	TypeShutdown         Type = 7
	TypeShutdownAck      Type = 8
	TypeError            Type = 9
	TypeCookieEcho       Type = 10
	TypeCookieAck        Type = 11
	TypeShutdownComplete Type = 14
	TypeInterleaved      Type = 0x40 // I-DATA, RFC 8260
	TypePad              Type = 0x84 // RFC 4820
	TypeForward          Type = 0xc0 // FORWARD-TSN, RFC 3758
	TypeForwardI         Type = 0xc2 // I-FORWARD-TSN, RFC 8260
)

var typeNames = map[Type]string{
	TypeData: "DATA", TypeInit: "INIT", TypeInitAck: "INIT ACK", TypeSACK: "SACK",
	TypeHeartbeat: "HEARTBEAT", TypeHeartbeatAck: "HEARTBEAT ACK", TypeAbort: "ABORT",
	TypeShutdown: "SHUTDOWN", TypeShutdownAck: "SHUTDOWN ACK", TypeError: "ERROR",
	TypeCookieEcho: "COOKIE ECHO", TypeCookieAck: "COOKIE ACK", TypeShutdownComplete: "SHUTDOWN COMPLETE",
	TypeInterleaved: "I-DATA", TypePad: "PAD", TypeForward: "FORWARD-TSN", TypeForwardI: "I-FORWARD-TSN",
}

func (t Type) String() string {
	if name := typeNames[t]; name != "" {
		return name
	}
	return fmt.Sprintf("chunk type %#02x", uint8(t))
}

// Skip says what to do with a chunk whose type is not known: whether the rest of the packet is to be
// looked at all the same, and whether the sender is to be told (section 3.2).
func (t Type) Skip() (on, report bool) { return t&0x80 != 0, t&0x40 != 0 }

// FlagTag, in an ABORT or a SHUTDOWN COMPLETE, says that the packet has the tag of the one it answers, since
// its sender knows no better (the T bit, section 8.4).
const FlagTag = 1

// A Chunk is one of a packet, taken out but not read.
type Chunk struct {
	Type  Type
	Flags uint8
	Value []byte // what is behind the chunk's header
	Raw   []byte // with its header, without what it is padded with
}

const chunkHeader = 4

// ErrMalformed is wrapped by the errors of chunks.
var ErrMalformed = errors.New("malformed")

func malformed(t Type, what string, number int) error {
	return fmt.Errorf("%w %v: %s %d", ErrMalformed, t, what, number)
}

// Chunks are those of a packet that are still to be looked at.
type Chunks struct{ rest []byte }

// Next takes the next chunk. It ends at one that is not whole, which is to be dropped (section 6.10).
func (c *Chunks) Next() (next Chunk, ok bool) {
	raw, ok := cut(&c.rest)
	if !ok {
		return Chunk{}, false
	}
	return Chunk{Type: Type(raw[0]), Flags: raw[1], Value: raw[chunkHeader:], Raw: raw}, true
}

// Whole reports whether nothing is left: after Next has ended, that it was not for a chunk that is not whole.
func (c *Chunks) Whole() bool { return len(c.rest) == 0 }

// cut takes the first item off, which has its length at its third byte, and what it is padded with.
func cut(rest *[]byte) (item []byte, ok bool) {
	b := *rest
	if len(b) < chunkHeader {
		return nil, false
	}
	n := int(binary.BigEndian.Uint16(b[2:]))
	if n < chunkHeader || n > len(b) {
		return nil, false
	}
	*rest = b[min(Padded(n), len(b)):]
	return b[:n:n], true
}

// Padded is how many bytes an item of so many takes: chunks and parameters begin at multiples of four.
func Padded(n int) int { return (n + 3) &^ 3 }

// Begin begins a chunk, whose value the caller appends, up to [End].
func Begin(b []byte, t Type, flags uint8) (grown []byte, start int) {
	return append(b, uint8(t), flags, 0, 0), len(b)
}

// End ends the chunk that began at start: its length is written, and it is padded.
func End(b []byte, start int) []byte { return pad(EndField(b, start)) }

// pad has b end at a multiple of four.
func pad(b []byte) []byte {
	if len(b)%4 == 0 {
		return b
	}
	return append(b, none[:Padded(len(b))-len(b)]...)
}

// Append appends a chunk.
func Append(b []byte, t Type, flags uint8, value []byte) []byte {
	b, start := Begin(b, t, flags)
	return End(append(b, value...), start)
}

// AppendNumber appends a chunk that consists of a number, such as SHUTDOWN.
func AppendNumber(b []byte, t Type, n uint32) []byte {
	b, start := Begin(b, t, 0)
	return End(binary.BigEndian.AppendUint32(b, n), start)
}

// ParseNumber reads a chunk that consists of a number.
func ParseNumber(c Chunk) (uint32, error) {
	if len(c.Value) != 4 {
		return 0, malformed(c.Type, "bytes where 4 are due:", len(c.Value))
	}
	return binary.BigEndian.Uint32(c.Value), nil
}
