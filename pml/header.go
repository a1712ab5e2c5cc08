package pml

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/strandmp/strand/btl"
)

// frameType says what a frame is for. docs/WIRE.md describes each byte by byte.
type frameType uint8

const (
	frameEager      frameType = 1 + iota // a whole message
	frameRequest                         // request to send, perhaps with a first piece
	frameClear                           // clear to send: the answer to a request
	frameData                            // a piece of a message that was cleared
	frameVoid                            // numbers given out for a message that will not come
	frameAck                             // acknowledgement and credit, nothing else
	frameGoodbye                         // nothing more will be sent
	frameGoodbyeAck                      // goodbye was understood
	frameBroken                          // another connection was given up
	frameProbe                           // bytes of no value, to see whether they arrive
	frameProbed                          // they have
	frameTypes
)

// unnumbered frames are never kept nor sent again.
func (k frameType) unnumbered() bool { return k == frameAck || k >= frameGoodbye }

// control frames have no place in a lane.
func (k frameType) control() bool { return k == frameClear || k.unnumbered() }

const (
	flagAckNow  = 1 << 0 // a request completes when this frame is acknowledged
	flagSync    = 1 << 1 // a synchronous send: answer when it matches
	flagStarved = 1 << 2 // it would have been sent at once, had there been credit
	flagCounted = 1 << 3 // the frame has a number and is to be acknowledged
	flagRefused = 1 << 4 // clear: the receiver leaves, nobody will receive the message
	flagAwaited = 1 << 5 // clear: the receive was there before the request
	flagPart    = 1 << 6 // a part of a frame's payload; where it belongs stands behind the header
	// clear: what was cleared before is void, since the receive has ended
	flagWithdrawn = 1 << 7
)

// flagsOf are those that a header of each type may have.
var flagsOf = [frameTypes]uint8{
	frameEager:   flagAckNow | flagCounted | flagPart,
	frameRequest: flagAckNow | flagCounted | flagPart | flagSync | flagStarved,
	frameClear:   flagAckNow | flagCounted | flagRefused | flagAwaited | flagWithdrawn,
	frameData:    flagAckNow | flagCounted | flagPart,
	frameVoid:    flagAckNow | flagCounted,
	frameAck:     flagAckNow,
}

// Sizes of the headers in bytes.
const (
	commonSize  = 16
	eagerSize   = 36
	requestSize = 52
	clearSize   = 44
	dataSize    = 32
	rangeSize   = 8
	maxRanges   = 6
	brokenSize  = 19 // and the name of the transport's component
	partSize    = 8  // behind the header of a part
)

// maxLanes bounds the lane numbers that are believed.
const maxLanes = 1024

// header is any frame's header, decoded.
type header struct {
	kind   frameType
	flags  uint8
	lane   uint16
	frame  uint32 // number among the counted frames to this peer
	ack    uint32 // the next frame number expected: all lower ones have arrived
	credit uint32 // credit granted since the start, in units

	context uint64 // eager, request, void
	tag     int32
	seq     uint32
	laneSeq uint32
	size    uint64 // request: length of the whole message
	handle  uint64 // request: the sender's; clear: the sender's, echoed; data: the receiver's
	remote  uint64 // clear: the receiver's handle
	accept  uint64 // clear: how many bytes of the message the receiver takes
	round   uint32 // clear: how often the message was withdrawn before
	offset  uint64 // data: where the payload belongs in the message

	ranges    [maxRanges]numberRange // ack: frames that arrived beyond a gap
	numRanges int

	part part // with flagPart

	path      uint16 // broken: the connection's
	component []byte // broken: that it is of, at most maxComponent bytes
}

// maxComponent is the length of the longest name that a header holds.
const maxComponent = btl.MaxHeader - brokenSize

// part says which bytes of a frame's payload these are: those from at on, of whole.
type part struct{ at, whole uint32 }

// numberRange is count consecutive frame numbers.
type numberRange struct{ first, count uint32 }

func (h *header) ackNow() bool  { return h.flags&flagAckNow != 0 }
func (h *header) counted() bool { return h.flags&flagCounted != 0 }
func (h *header) isPart() bool  { return h.flags&flagPart != 0 }

// encode writes h to b, which has room for btl.MaxHeader bytes, and returns the
// header's length.
func (h *header) encode(b []byte) int {
	n := h.encodeWhole(b)
	if h.isPart() {
		n = makePart(b, n, h.part)
	}
	return n
}

func (h *header) encodeWhole(b []byte) int {
	le := binary.LittleEndian
	b[0], b[1] = byte(h.kind), h.flags
	le.PutUint16(b[2:], h.lane)
	le.PutUint32(b[4:], h.frame)
	le.PutUint32(b[8:], h.ack)
	le.PutUint32(b[12:], h.credit)
	switch h.kind {
	case frameEager, frameVoid, frameRequest:
		le.PutUint64(b[16:], h.context)
		le.PutUint32(b[24:], uint32(h.tag))
		le.PutUint32(b[28:], h.seq)
		le.PutUint32(b[32:], h.laneSeq)
		if h.kind != frameRequest {
			return eagerSize
		}
		le.PutUint64(b[36:], h.size)
		le.PutUint64(b[44:], h.handle)
		return requestSize
	case frameClear:
		le.PutUint64(b[16:], h.handle)
		le.PutUint64(b[24:], h.remote)
		le.PutUint64(b[32:], h.accept)
		le.PutUint32(b[40:], h.round)
		return clearSize
	case frameData:
		le.PutUint64(b[16:], h.handle)
		le.PutUint64(b[24:], h.offset)
		return dataSize
	case frameAck:
		for i, r := range h.ranges[:h.numRanges] {
			le.PutUint32(b[commonSize+i*rangeSize:], r.first)
			le.PutUint32(b[commonSize+i*rangeSize+4:], r.count)
		}
		return commonSize + h.numRanges*rangeSize
	case frameBroken:
		le.PutUint16(b[16:], h.path)
		b[18] = byte(len(h.component))
		return brokenSize + copy(b[brokenSize:], h.component)
	}
	return commonSize
}

// restamp replaces the acknowledgement and the credit in an encoded header: they
// are those of the moment the frame goes out.
func restamp(b []byte, ack, credit uint32) {
	binary.LittleEndian.PutUint32(b[8:], ack)
	binary.LittleEndian.PutUint32(b[12:], credit)
}

var errShortHeader = errors.New("header is shorter than any can be")

// decode reads a header that came from the network with a payload of the given
// length. It checks everything that can be checked without knowing the state.
func (h *header) decode(b []byte, payload int) error {
	if len(b) < commonSize {
		return errShortHeader
	}
	le := binary.LittleEndian
	h.kind, h.flags = frameType(b[0]), b[1]
	h.lane = le.Uint16(b[2:])
	h.frame = le.Uint32(b[4:])
	h.ack = le.Uint32(b[8:])
	h.credit = le.Uint32(b[12:])
	if h.kind < frameTypes && h.flags&^flagsOf[h.kind] != 0 {
		return fmt.Errorf("header of frame type %d has flags %#x, known are %#x", h.kind, h.flags, flagsOf[h.kind])
	}
	if h.lane >= maxLanes {
		return fmt.Errorf("lane %d is not below %d", h.lane, maxLanes)
	}
	if h.isPart() {
		var err error
		if b, err = h.decodePart(b, payload); err != nil {
			return err
		}
		payload = int(h.part.whole)
	}
	want := 0
	switch h.kind {
	case frameEager, frameVoid:
		want = eagerSize
	case frameRequest:
		want = requestSize
	case frameClear:
		want = clearSize
	case frameData:
		want = dataSize
	case frameAck:
		return h.decodeRanges(b, payload)
	case frameGoodbye, frameGoodbyeAck, frameProbe, frameProbed:
		want = commonSize
	case frameBroken:
		return h.decodeBroken(b, payload)
	default:
		return fmt.Errorf("frame type %d is unknown", h.kind)
	}
	if len(b) != want {
		return fmt.Errorf("header of frame type %d has %d bytes, not %d", h.kind, len(b), want)
	}
	return h.decodeRest(b, uint64(payload))
}

func (h *header) decodeRest(b []byte, payload uint64) error {
	le := binary.LittleEndian
	carriesData := false
	switch h.kind {
	case frameEager, frameVoid, frameRequest:
		h.context = le.Uint64(b[16:])
		h.tag = int32(le.Uint32(b[24:]))
		h.seq = le.Uint32(b[28:])
		h.laneSeq = le.Uint32(b[32:])
		h.size = payload
		if h.tag < 0 {
			return fmt.Errorf("tag %d is negative", h.tag)
		}
		if h.kind == frameRequest {
			h.size = le.Uint64(b[36:])
			h.handle = le.Uint64(b[44:])
			if h.size > math.MaxInt64 || payload > h.size {
				return fmt.Errorf("request to send %d bytes comes with %d", h.size, payload)
			}
		}
		carriesData = h.kind != frameVoid
	case frameClear:
		h.handle = le.Uint64(b[16:])
		h.remote = le.Uint64(b[24:])
		h.accept = le.Uint64(b[32:])
		h.round = le.Uint32(b[40:])
	case frameData:
		h.handle = le.Uint64(b[16:])
		h.offset = le.Uint64(b[24:])
		if payload == 0 || h.offset > math.MaxInt64-payload {
			return fmt.Errorf("data frame of %d bytes at offset %d", payload, h.offset)
		}
		carriesData = true
	}
	if h.kind == frameProbe {
		if carriesData = true; payload == 0 {
			return errors.New("probe without a payload")
		}
	}
	if !carriesData && payload != 0 {
		return fmt.Errorf("frame type %d has a payload of %d bytes", h.kind, payload)
	}
	return nil
}

// makePart turns an encoded header of size bytes into that of a part, and returns its
// length.
func makePart(b []byte, size int, p part) int {
	b[1] |= flagPart
	binary.LittleEndian.PutUint32(b[size:], p.at)
	binary.LittleEndian.PutUint32(b[size+4:], p.whole)
	return size + partSize
}

// decodePart reads which part it is and returns the header of the whole frame.
func (h *header) decodePart(b []byte, payload int) ([]byte, error) {
	switch {
	case h.kind != frameEager && h.kind != frameRequest && h.kind != frameData || !h.counted():
		return nil, fmt.Errorf("part of a frame of type %d with flags %#x", h.kind, h.flags)
	case len(b) < commonSize+partSize:
		return nil, errShortHeader
	}
	head := len(b) - partSize
	h.part = part{binary.LittleEndian.Uint32(b[head:]), binary.LittleEndian.Uint32(b[head+4:])}
	if payload == 0 || uint64(h.part.at)+uint64(payload) > uint64(h.part.whole) || h.part.whole > math.MaxInt32 {
		return nil, fmt.Errorf("part of %d bytes at %d of a frame of %d", payload, h.part.at, h.part.whole)
	}
	return b[:head], nil
}

func (h *header) decodeBroken(b []byte, payload int) error {
	if len(b) <= brokenSize || len(b) != brokenSize+int(b[18]) || payload != 0 {
		return fmt.Errorf("note of a broken connection of %d bytes with a payload of %d", len(b), payload)
	}
	h.path, h.component = binary.LittleEndian.Uint16(b[16:]), b[brokenSize:]
	return nil
}

func (h *header) decodeRanges(b []byte, payload int) error {
	rest := len(b) - commonSize
	if payload != 0 || rest%rangeSize != 0 || rest > maxRanges*rangeSize {
		return fmt.Errorf("acknowledgement of %d bytes with a payload of %d", len(b), payload)
	}
	h.numRanges = rest / rangeSize
	for i := range h.ranges[:h.numRanges] {
		at := commonSize + i*rangeSize
		h.ranges[i] = numberRange{binary.LittleEndian.Uint32(b[at:]), binary.LittleEndian.Uint32(b[at+4:])}
	}
	return nil
}
