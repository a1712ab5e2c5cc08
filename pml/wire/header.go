package wire

import "github.com/strandmp/strand/btl"

// Sizes of the headers in bytes.
const (
	commonSize  = 16
	eagerSize   = 36
	requestSize = 52
	clearSize   = 44
	dataSize    = 32
	rangeSize   = 8
	brokenSize  = 19 // and the name of the transport's component
	partSize    = 8  // behind the header of a part
)

const (
	// MaxLanes bounds the lane numbers that are believed: as many as pml_lanes may be, and the
	// urgent one.
	MaxLanes = 1024 + 1
	// MaxRanges is how many ranges an acknowledgement has room for.
	MaxRanges = 6
	// MaxComponent is the length of the longest component's name that a header holds.
	MaxComponent = btl.MaxHeader - brokenSize
)

// Header is any frame's header, decoded.
type Header struct {
	Kind   Kind
	Flags  Flags
	Lane   uint16
	Frame  uint32 // number among the counted frames to this peer
	Ack    uint32 // the next frame number expected: all lower ones have arrived
	Credit uint32 // credit granted since the start, in units

	Context uint64 // eager, request
	Tag     int32
	Seq     uint32 // the message's place among all of its sender in its context
	LaneSeq uint32 // its place in its lane
	Size    uint64 // request: length of the whole message; eager: that of the payload
	Handle  uint64 // request: the sender's; clear: the sender's, echoed; data: the receiver's
	Remote  uint64 // clear: the receiver's handle
	Accept  uint64 // clear: how many bytes of the message the receiver takes
	Round   uint32 // clear: how often the message was withdrawn before
	Offset  uint64 // data: where the payload belongs in the message

	Ranges    [MaxRanges]Range // ack: frames that arrived beyond a gap
	NumRanges int

	Part Part // with FlagPart

	Path      uint16 // broken: the connection's
	Component []byte // broken: that it is of, at most MaxComponent bytes
}

// Part says which bytes of a frame's payload these are: those from At on, of Whole.
type Part struct{ At, Whole uint32 }

// Range is Count consecutive frame numbers.
type Range struct{ First, Count uint32 }

// AckNow reports whether a request of the sender completes with the acknowledgement.
func (h *Header) AckNow() bool { return h.Flags&FlagAckNow != 0 }

// Counted reports whether the frame has a number.
func (h *Header) Counted() bool { return h.Flags&FlagCounted != 0 }

// IsPart reports whether the payload is a part of the frame's only.
func (h *Header) IsPart() bool { return h.Flags&FlagPart != 0 }
