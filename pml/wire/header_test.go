package wire

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
)

// sampleHeaders is one header of each type, every field that it carries set.
var sampleHeaders = []Header{
	{Kind: Eager, Flags: FlagCounted, Lane: 3, Frame: 7, Ack: 8, Credit: 9, Context: 1 << 40, Tag: math.MaxInt32, Seq: 10, LaneSeq: 11},
	{Kind: Request, Flags: FlagStarved | FlagAckNow, Lane: MaxLanes - 1, Frame: math.MaxUint32, Ack: 1, Credit: math.MaxUint32,
		Context: 5, Tag: 1, Seq: math.MaxUint32, LaneSeq: 4, Size: math.MaxInt64, Handle: math.MaxUint64},
	{Kind: Clear, Handle: 1<<32 | 5, Remote: 2<<32 | 6, Accept: 77, Round: 78},
	{Kind: Clear, Flags: FlagWithdrawn, Handle: 1<<32 | 5},
	{Kind: Data, Flags: FlagAckNow, Handle: 3<<32 | 7, Offset: 1 << 33},
	{Kind: Ack, Ack: 5, Ranges: [MaxRanges]Range{{7, 2}, {11, 1}}, NumRanges: 2},
	{Kind: Goodbye, Ack: 5, Credit: 6},
	{Kind: GoodbyeAck, Ack: 5, Credit: 6},
	{Kind: Broken, Path: 63, Component: []byte("tcp")},
	{Kind: Probe, Ack: 5, Credit: 6},
	{Kind: Probed, Ack: 5, Credit: 6},
	{Kind: Data, Flags: FlagCounted | FlagPart, Handle: 3<<32 | 7, Offset: 1 << 33, Part: Part{At: 50, Whole: 150}},
}

// payloadOf is a payload length that goes with a header.
func payloadOf(h *Header) int {
	switch h.Kind {
	case Eager, Data, Probe:
		return 100
	case Request:
		return int(min(h.Size, 100))
	}
	return 0
}

func TestHeaderRoundTrip(t *testing.T) {
	for _, h := range sampleHeaders {
		b := make([]byte, btl.MaxHeader)
		n := h.Encode(b)
		payload := payloadOf(&h)
		var got Header
		require.NoError(t, got.Decode(b[:n], payload), "type %d", h.Kind)
		want := h
		if h.Kind == Eager {
			want.Size = uint64(payload)
		}
		assert.Equal(t, want, got)

		assert.Error(t, got.Decode(b[:n-1], payload), "type %d, a byte short", h.Kind)
		assert.Error(t, got.Decode(append(b[:n:n], 0), payload), "type %d, a byte long", h.Kind)
	}
}

func TestRestamp(t *testing.T) {
	for _, h := range sampleHeaders {
		b := make([]byte, btl.MaxHeader)
		n := h.Encode(b)
		Restamp(b, 1234, 5678)
		var got Header
		require.NoError(t, got.Decode(b[:n], payloadOf(&h)))
		assert.Equal(t, []uint32{1234, 5678}, []uint32{got.Ack, got.Credit})
	}
}

func TestHeaderRefuses(t *testing.T) {
	cases := []struct {
		name    string
		header  Header
		payload int
		damage  func([]byte)
		says    string
	}{
		{"type 0", Header{Kind: 0}, 0, nil, "frame type 0 is unknown"},
		{"type above the last", Header{Kind: Kinds}, 0, nil, "is unknown"},
		{"unknown flag", Header{Kind: Ack, Flags: FlagCounted}, 0, nil, "header of frame type 5 has flags 0x4, known are 0x81"},
		{"a flag of another type", Header{Kind: Eager, Flags: FlagWithdrawn}, 5, nil, "has flags 0x40"},
		{"lane", Header{Kind: Goodbye, Lane: MaxLanes}, 0, nil, "lane 1025 is not below 1025"},
		{"negative tag", Header{Kind: Eager, Tag: -1}, 5, nil, "tag -1 is negative"},
		{"request shorter than its first piece", Header{Kind: Request, Size: 4}, 5, nil, "request to send 4 bytes comes with 5"},
		{"request of a wild length", Header{Kind: Request, Size: 1 << 63}, 5, nil, "request to send 9223372036854775808 bytes"},
		{"data without data", Header{Kind: Data}, 0, nil, "data frame of 0 bytes"},
		{"data beyond the end of the world", Header{Kind: Data, Offset: math.MaxInt64}, 1, nil, "at offset 9223372036854775807"},
		{"data, offset wraps", Header{Kind: Data, Offset: math.MaxUint64}, 10, nil, "data frame of 10 bytes"},
		{"clear with a payload", Header{Kind: Clear}, 1, nil, "frame type 3 has a payload of 1 bytes"},
		{"goodbye with a payload", Header{Kind: Goodbye}, 1, nil, "has a payload"},
		{"broken, with a payload", Header{Kind: Broken, Component: []byte("tcp")}, 1, nil, "note of a broken connection of 22 bytes with a payload of 1"},
		{"broken, of nothing", Header{Kind: Broken}, 0, nil, "note of a broken connection of 19 bytes"},
		{"acknowledgement with a payload", Header{Kind: Ack}, 1, nil, "acknowledgement of 16 bytes with a payload of 1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := make([]byte, btl.MaxHeader)
			n := c.header.Encode(b)
			var got Header
			assert.ErrorContains(t, got.Decode(b[:n], c.payload), c.says)
		})
	}
	var got Header
	assert.Error(t, got.Decode(nil, 0))
	tooMany := make([]byte, commonSize+(MaxRanges+1)*rangeSize)
	tooMany[0] = byte(Ack)
	assert.ErrorContains(t, got.Decode(tooMany, 0), "acknowledgement of 72 bytes")
}

// drawHeader makes any header that can be encoded, without fields that its type
// does not carry.
func drawHeader(t *rapid.T) Header {
	h := Header{
		Kind:   Kind(rapid.IntRange(1, int(Kinds)-1).Draw(t, "kind")),
		Flags:  Flags(rapid.Uint8().Draw(t, "flags")),
		Lane:   uint16(rapid.IntRange(0, MaxLanes-1).Draw(t, "lane")),
		Frame:  rapid.Uint32().Draw(t, "frame"),
		Ack:    rapid.Uint32().Draw(t, "ack"),
		Credit: rapid.Uint32().Draw(t, "credit"),
	}
	h.Flags &= flagsOf[h.Kind]
	switch h.Kind {
	case Eager, Request:
		h.Context, h.Tag = rapid.Uint64().Draw(t, "context"), rapid.Int32Min(0).Draw(t, "tag")
		h.Seq, h.LaneSeq = rapid.Uint32().Draw(t, "seq"), rapid.Uint32().Draw(t, "laneSeq")
		if h.Kind == Request {
			h.Size, h.Handle = rapid.Uint64Max(math.MaxInt64).Draw(t, "size"), rapid.Uint64().Draw(t, "handle")
		}
	case Clear:
		h.Handle, h.Remote = rapid.Uint64().Draw(t, "handle"), rapid.Uint64().Draw(t, "remote")
		h.Accept, h.Round = rapid.Uint64().Draw(t, "accept"), rapid.Uint32().Draw(t, "round")
	case Data:
		h.Handle = rapid.Uint64().Draw(t, "handle")
		h.Offset = rapid.Uint64Max(math.MaxInt64-100).Draw(t, "offset")
	case Ack:
		h.NumRanges = rapid.IntRange(0, MaxRanges).Draw(t, "ranges")
		for i := range h.Ranges[:h.NumRanges] {
			h.Ranges[i] = Range{rapid.Uint32().Draw(t, "first"), rapid.Uint32().Draw(t, "count")}
		}
	case Broken:
		h.Path = rapid.Uint16().Draw(t, "path")
		h.Component = rapid.SliceOfN(rapid.Byte(), 1, MaxComponent).Draw(t, "component")
	}
	drawPart(t, &h)
	return h
}

// drawPart makes a header that of a part, if its type has any.
func drawPart(t *rapid.T, h *Header) {
	size := payloadOf(h)
	if size == 0 || h.Flags&FlagCounted == 0 || h.Kind == Probe {
		h.Flags &^= FlagPart
	}
	if !h.IsPart() {
		return
	}
	whole := uint32(size)
	if h.Kind != Request {
		whole = rapid.Uint32Range(whole, math.MaxInt32/2).Draw(t, "whole")
		h.Offset = min(h.Offset, math.MaxInt64-uint64(whole))
	}
	h.Part = Part{At: rapid.Uint32Max(whole-uint32(size)).Draw(t, "at"), Whole: whole}
}

func TestHeaderProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		b := make([]byte, btl.MaxHeader)
		n := h.Encode(b)
		payload := payloadOf(&h)
		var got Header
		require.NoError(t, got.Decode(b[:n], payload))
		if h.Kind == Eager {
			h.Size = max(uint64(payload), uint64(h.Part.Whole))
		}
		require.Equal(t, h, got)
	})
}

// FuzzHeader holds that no bytes make the decoder panic, and that what it takes
// is what the encoder would have written.
func FuzzHeader(f *testing.F) {
	for _, h := range sampleHeaders {
		b := make([]byte, btl.MaxHeader)
		f.Add(b[:h.Encode(b)], payloadOf(&h))
	}
	f.Add([]byte{}, 0)
	f.Fuzz(func(t *testing.T, b []byte, payload int) {
		if payload < 0 {
			return // a transport knows how much it has
		}
		checkPlain(t, b, payload)
		var h Header
		if h.Decode(b, payload) != nil {
			return
		}
		if h.Size > math.MaxInt64 || h.Offset > math.MaxInt64 || h.Tag < 0 || h.Lane >= MaxLanes || h.NumRanges > MaxRanges {
			t.Fatalf("decoder has taken a wild header: %+v", h)
		}
		again := make([]byte, btl.MaxHeader)
		if n := h.Encode(again); string(again[:n]) != string(b) {
			t.Fatalf("decoded % x\nencoded % x", b, again[:n])
		}
	})
}
