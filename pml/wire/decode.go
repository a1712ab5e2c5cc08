package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

var errShortHeader = errors.New("header is shorter than any can be")

// Decode reads a header that came from the network with a payload of the given length. It
// checks everything that can be checked without knowing the state. H is to be zero before;
// it refers to b's memory in the component only.
func (h *Header) Decode(b []byte, payload int) error {
	if len(b) < commonSize {
		return errShortHeader
	}
	f := Fields(b)
	h.Kind, h.Flags, h.Lane, h.Frame, h.Ack, h.Credit = f.Kind(), f.Flags(), f.Lane(), f.Frame(), f.Ack(), f.Credit()
	if h.Kind < Kinds && h.Flags&^flagsOf[h.Kind] != 0 {
		return fmt.Errorf("header of frame type %d has flags %#x, known are %#x", h.Kind, h.Flags, flagsOf[h.Kind])
	}
	if h.Lane >= MaxLanes {
		return fmt.Errorf("lane %d is not below %d", h.Lane, MaxLanes)
	}
	if h.IsPart() {
		var err error
		if b, err = h.decodePart(b, payload); err != nil {
			return err
		}
		payload = int(h.Part.Whole)
	}
	want := 0
	switch h.Kind {
	case Eager:
		want = eagerSize
	case Request:
		want = requestSize
	case Clear:
		want = clearSize
	case Data:
		want = dataSize
	case Ack:
		return h.decodeRanges(b, payload)
	case Goodbye, GoodbyeAck, Probe, Probed:
		want = commonSize
	case Broken:
		return h.decodeBroken(b, payload)
	default:
		return fmt.Errorf("frame type %d is unknown", h.Kind)
	}
	if len(b) != want {
		return fmt.Errorf("header of frame type %d has %d bytes, not %d", h.Kind, len(b), want)
	}
	return h.decodeRest(b, uint64(payload))
}

func (h *Header) decodeRest(b []byte, payload uint64) error {
	le := binary.LittleEndian
	carriesData := false
	switch h.Kind {
	case Eager, Request:
		f := Fields(b)
		h.Context, h.Tag, h.Seq, h.LaneSeq = f.Context(), f.Tag(), f.Seq(), f.LaneSeq()
		h.Size = payload
		if h.Tag < 0 {
			return fmt.Errorf("tag %d is negative", h.Tag)
		}
		if h.Kind == Request {
			h.Size = le.Uint64(b[36:])
			h.Handle = le.Uint64(b[44:])
			if h.Size > math.MaxInt64 || payload > h.Size {
				return fmt.Errorf("request to send %d bytes comes with %d", h.Size, payload)
			}
		}
		carriesData = true
	case Clear:
		h.Handle = le.Uint64(b[16:])
		h.Remote = le.Uint64(b[24:])
		h.Accept = le.Uint64(b[32:])
		h.Round = le.Uint32(b[40:])
	case Data:
		h.Handle = le.Uint64(b[16:])
		h.Offset = le.Uint64(b[24:])
		if payload == 0 || h.Offset > math.MaxInt64-payload {
			return fmt.Errorf("data frame of %d bytes at offset %d", payload, h.Offset)
		}
		carriesData = true
	}
	if h.Kind == Probe {
		if carriesData = true; payload == 0 {
			return errors.New("probe without a payload")
		}
	}
	if !carriesData && payload != 0 {
		return fmt.Errorf("frame type %d has a payload of %d bytes", h.Kind, payload)
	}
	return nil
}

// decodePart reads which part it is and returns the header of the whole frame.
func (h *Header) decodePart(b []byte, payload int) ([]byte, error) {
	switch {
	case h.Kind != Eager && h.Kind != Request && h.Kind != Data || !h.Counted():
		return nil, fmt.Errorf("part of a frame of type %d with flags %#x", h.Kind, h.Flags)
	case len(b) < commonSize+partSize:
		return nil, errShortHeader
	}
	head := len(b) - partSize
	h.Part = Part{binary.LittleEndian.Uint32(b[head:]), binary.LittleEndian.Uint32(b[head+4:])}
	if payload == 0 || uint64(h.Part.At)+uint64(payload) > uint64(h.Part.Whole) || h.Part.Whole > math.MaxInt32 {
		return nil, fmt.Errorf("part of %d bytes at %d of a frame of %d", payload, h.Part.At, h.Part.Whole)
	}
	return b[:head], nil
}

func (h *Header) decodeBroken(b []byte, payload int) error {
	if len(b) <= brokenSize || len(b) != brokenSize+int(b[18]) || payload != 0 {
		return fmt.Errorf("note of a broken connection of %d bytes with a payload of %d", len(b), payload)
	}
	h.Path, h.Component = binary.LittleEndian.Uint16(b[16:]), b[brokenSize:]
	return nil
}

func (h *Header) decodeRanges(b []byte, payload int) error {
	rest := len(b) - commonSize
	if payload != 0 || rest%rangeSize != 0 || rest > MaxRanges*rangeSize {
		return fmt.Errorf("acknowledgement of %d bytes with a payload of %d", len(b), payload)
	}
	h.NumRanges = rest / rangeSize
	for i := range h.Ranges[:h.NumRanges] {
		at := commonSize + i*rangeSize
		h.Ranges[i] = Range{binary.LittleEndian.Uint32(b[at:]), binary.LittleEndian.Uint32(b[at+4:])}
	}
	return nil
}
