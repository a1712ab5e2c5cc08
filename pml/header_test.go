package pml

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
)

// sampleHeaders is one header of each type, every field that it carries set.
var sampleHeaders = []header{
	{kind: frameEager, flags: flagCounted, lane: 3, frame: 7, ack: 8, credit: 9, context: 1 << 40, tag: MaxTag, seq: 10, laneSeq: 11},
	{kind: frameRequest, flags: flagSync | flagStarved | flagAckNow, lane: maxLanes - 1, frame: math.MaxUint32, ack: 1, credit: math.MaxUint32,
		context: 5, tag: 1, seq: math.MaxUint32, laneSeq: 4, size: math.MaxInt64, handle: math.MaxUint64},
	{kind: frameClear, handle: 1<<32 | 5, remote: 2<<32 | 6, accept: 77, round: 78},
	{kind: frameClear, flags: flagWithdrawn, handle: 1<<32 | 5},
	{kind: frameData, flags: flagAckNow, handle: 3<<32 | 7, offset: 1 << 33},
	{kind: frameVoid, context: 1, tag: 2, seq: 3, laneSeq: 4},
	{kind: frameAck, ack: 5, ranges: [maxRanges]numberRange{{7, 2}, {11, 1}}, numRanges: 2},
	{kind: frameGoodbye, ack: 5, credit: 6},
	{kind: frameGoodbyeAck, ack: 5, credit: 6},
	{kind: frameBroken, path: 63, component: []byte("tcp")},
	{kind: frameProbe, ack: 5, credit: 6},
	{kind: frameProbed, ack: 5, credit: 6},
	{kind: frameData, flags: flagCounted | flagPart, handle: 3<<32 | 7, offset: 1 << 33, part: part{at: 50, whole: 150}},
}

// payloadOf is a payload length that goes with a header.
func payloadOf(h *header) int {
	switch h.kind {
	case frameEager, frameData, frameProbe:
		return 100
	case frameRequest:
		return int(min(h.size, 100))
	}
	return 0
}

func TestHeaderRoundTrip(t *testing.T) {
	for _, h := range sampleHeaders {
		b := make([]byte, btl.MaxHeader)
		n := h.encode(b)
		payload := payloadOf(&h)
		var got header
		require.NoError(t, got.decode(b[:n], payload), "type %d", h.kind)
		want := h
		if h.kind == frameEager {
			want.size = uint64(payload)
		}
		assert.Equal(t, want, got)

		assert.Error(t, got.decode(b[:n-1], payload), "type %d, a byte short", h.kind)
		assert.Error(t, got.decode(append(b[:n:n], 0), payload), "type %d, a byte long", h.kind)
	}
}

func TestRestamp(t *testing.T) {
	for _, h := range sampleHeaders {
		b := make([]byte, btl.MaxHeader)
		n := h.encode(b)
		restamp(b, 1234, 5678)
		var got header
		require.NoError(t, got.decode(b[:n], payloadOf(&h)))
		assert.Equal(t, []uint32{1234, 5678}, []uint32{got.ack, got.credit})
	}
}

func TestHeaderRefuses(t *testing.T) {
	cases := []struct {
		name    string
		header  header
		payload int
		damage  func([]byte)
		says    string
	}{
		{"type 0", header{kind: 0}, 0, nil, "frame type 0 is unknown"},
		{"type above the last", header{kind: frameTypes}, 0, nil, "is unknown"},
		{"unknown flag", header{kind: frameAck, flags: flagCounted}, 0, nil, "header of frame type 6 has flags 0x8, known are 0x1"},
		{"a flag of another type", header{kind: frameEager, flags: flagWithdrawn}, 5, nil, "has flags 0x80"},
		{"lane", header{kind: frameGoodbye, lane: maxLanes}, 0, nil, "lane 1024 is not below 1024"},
		{"negative tag", header{kind: frameEager, tag: -1}, 5, nil, "tag -1 is negative"},
		{"request shorter than its first piece", header{kind: frameRequest, size: 4}, 5, nil, "request to send 4 bytes comes with 5"},
		{"request of a wild length", header{kind: frameRequest, size: 1 << 63}, 5, nil, "request to send 9223372036854775808 bytes"},
		{"data without data", header{kind: frameData}, 0, nil, "data frame of 0 bytes"},
		{"data beyond the end of the world", header{kind: frameData, offset: math.MaxInt64}, 1, nil, "at offset 9223372036854775807"},
		{"data, offset wraps", header{kind: frameData, offset: math.MaxUint64}, 10, nil, "data frame of 10 bytes"},
		{"clear with a payload", header{kind: frameClear}, 1, nil, "frame type 3 has a payload of 1 bytes"},
		{"void with a payload", header{kind: frameVoid}, 1, nil, "has a payload"},
		{"goodbye with a payload", header{kind: frameGoodbye}, 1, nil, "has a payload"},
		{"broken, with a payload", header{kind: frameBroken, component: []byte("tcp")}, 1, nil, "note of a broken connection of 22 bytes with a payload of 1"},
		{"broken, of nothing", header{kind: frameBroken}, 0, nil, "note of a broken connection of 19 bytes"},
		{"acknowledgement with a payload", header{kind: frameAck}, 1, nil, "acknowledgement of 16 bytes with a payload of 1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := make([]byte, btl.MaxHeader)
			n := c.header.encode(b)
			var got header
			assert.ErrorContains(t, got.decode(b[:n], c.payload), c.says)
		})
	}
	var got header
	assert.Error(t, got.decode(nil, 0))
	tooMany := make([]byte, commonSize+(maxRanges+1)*rangeSize)
	tooMany[0] = byte(frameAck)
	assert.ErrorContains(t, got.decode(tooMany, 0), "acknowledgement of 72 bytes")
}

// drawHeader makes any header that can be encoded, without fields that its type
// does not carry.
func drawHeader(t *rapid.T) header {
	h := header{
		kind:   frameType(rapid.IntRange(1, int(frameTypes)-1).Draw(t, "kind")),
		flags:  rapid.Uint8().Draw(t, "flags"),
		lane:   uint16(rapid.IntRange(0, maxLanes-1).Draw(t, "lane")),
		frame:  rapid.Uint32().Draw(t, "frame"),
		ack:    rapid.Uint32().Draw(t, "ack"),
		credit: rapid.Uint32().Draw(t, "credit"),
	}
	h.flags &= flagsOf[h.kind]
	switch h.kind {
	case frameEager, frameVoid, frameRequest:
		h.context, h.tag = rapid.Uint64().Draw(t, "context"), rapid.Int32Min(0).Draw(t, "tag")
		h.seq, h.laneSeq = rapid.Uint32().Draw(t, "seq"), rapid.Uint32().Draw(t, "laneSeq")
		if h.kind == frameRequest {
			h.size, h.handle = rapid.Uint64Max(math.MaxInt64).Draw(t, "size"), rapid.Uint64().Draw(t, "handle")
		}
	case frameClear:
		h.handle, h.remote = rapid.Uint64().Draw(t, "handle"), rapid.Uint64().Draw(t, "remote")
		h.accept, h.round = rapid.Uint64().Draw(t, "accept"), rapid.Uint32().Draw(t, "round")
	case frameData:
		h.handle = rapid.Uint64().Draw(t, "handle")
		h.offset = rapid.Uint64Max(math.MaxInt64-100).Draw(t, "offset")
	case frameAck:
		h.numRanges = rapid.IntRange(0, maxRanges).Draw(t, "ranges")
		for i := range h.ranges[:h.numRanges] {
			h.ranges[i] = numberRange{rapid.Uint32().Draw(t, "first"), rapid.Uint32().Draw(t, "count")}
		}
	case frameBroken:
		h.path = rapid.Uint16().Draw(t, "path")
		h.component = rapid.SliceOfN(rapid.Byte(), 1, maxComponent).Draw(t, "component")
	}
	drawPart(t, &h)
	return h
}

// drawPart makes a header that of a part, if its type has any.
func drawPart(t *rapid.T, h *header) {
	size := payloadOf(h)
	if size == 0 || h.flags&flagCounted == 0 || h.kind == frameProbe {
		h.flags &^= flagPart
	}
	if !h.isPart() {
		return
	}
	whole := uint32(size)
	if h.kind != frameRequest {
		whole = rapid.Uint32Range(whole, math.MaxInt32/2).Draw(t, "whole")
		h.offset = min(h.offset, math.MaxInt64-uint64(whole))
	}
	h.part = part{at: rapid.Uint32Max(whole-uint32(size)).Draw(t, "at"), whole: whole}
}

func TestHeaderProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		b := make([]byte, btl.MaxHeader)
		n := h.encode(b)
		payload := payloadOf(&h)
		var got header
		require.NoError(t, got.decode(b[:n], payload))
		if h.kind == frameEager {
			h.size = max(uint64(payload), uint64(h.part.whole))
		}
		require.Equal(t, h, got)
	})
}

// FuzzHeader holds that no bytes make the decoder panic, and that what it takes
// is what the encoder would have written.
func FuzzHeader(f *testing.F) {
	for _, h := range sampleHeaders {
		b := make([]byte, btl.MaxHeader)
		f.Add(b[:h.encode(b)], payloadOf(&h))
	}
	f.Add([]byte{}, 0)
	f.Fuzz(func(t *testing.T, b []byte, payload int) {
		if payload < 0 {
			return // a transport knows how much it has
		}
		var h header
		if h.decode(b, payload) != nil {
			return
		}
		if h.size > math.MaxInt64 || h.offset > math.MaxInt64 || h.tag < 0 || h.lane >= maxLanes || h.numRanges > maxRanges {
			t.Fatalf("decoder has taken a wild header: %+v", h)
		}
		again := make([]byte, btl.MaxHeader)
		if n := h.encode(again); string(again[:n]) != string(b) {
			t.Fatalf("decoded % x\nencoded % x", b, again[:n])
		}
	})
}
