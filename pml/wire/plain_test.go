package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
)

// What PutPlain writes, and Restamp completes, is what Encode writes.
func TestPutPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		h = Header{Kind: Eager, Flags: FlagCounted, Lane: h.Lane, Frame: h.Frame, Ack: h.Ack, Credit: h.Credit,
			Context: h.Context, Tag: h.Tag, Seq: h.Seq, LaneSeq: h.LaneSeq}
		want, got := make([]byte, btl.MaxHeader), make([]byte, btl.MaxHeader)
		want = want[:h.Encode(want)]
		got = PutPlain(got, h.Lane, h.Frame, h.Context, h.Tag, h.Seq, h.LaneSeq)
		Restamp(got, h.Ack, h.Credit)
		require.Equal(t, want, got)
	})
}

// Plain takes what Decode takes as a plain frame, and nothing else, and reads the same in it.
func checkPlain(t require.TestingT, b []byte, payload int) {
	var h Header
	err := h.Decode(b, payload)
	f, plain := Plain(b)
	require.Equal(t, err == nil && h.Kind == Eager && h.Counted() && !h.IsPart(), plain, "%v: % x", err, b)
	if !plain {
		return
	}
	h.Size = 0
	require.Equal(t, h, Header{Kind: f.Kind(), Flags: f.Flags(), Lane: f.Lane(), Frame: f.Frame(), Ack: f.Ack(), Credit: f.Credit(),
		Context: f.Context(), Tag: f.Tag(), Seq: f.Seq(), LaneSeq: f.LaneSeq()})
}

func TestPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		b := make([]byte, btl.MaxHeader)
		b = b[:h.Encode(b)]
		checkPlain(t, b, payloadOf(&h))
		b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		checkPlain(t, b[:rapid.IntRange(max(0, len(b)-1), len(b)).Draw(t, "length")], payloadOf(&h))
	})
}

// The header of a part is the same whether it is made of the frame's header or of that of
// another part.
func TestEncodePart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		h.Flags, h.Part = h.Flags&^FlagPart, Part{}
		whole, first, part := make([]byte, btl.MaxHeader), make([]byte, btl.MaxHeader), make([]byte, btl.MaxHeader)
		whole = whole[:h.Encode(whole)]
		if flagsOf[h.Kind]&FlagPart == 0 {
			return
		}
		p := Part{At: rapid.Uint32().Draw(t, "at"), Whole: rapid.Uint32().Draw(t, "whole")}
		first = first[:EncodePart(first, whole, Part{1, 2})]
		part = part[:EncodePart(part, first, p)]

		h.Flags, h.Part = h.Flags|FlagPart, p
		want := make([]byte, btl.MaxHeader)
		require.Equal(t, want[:h.Encode(want)], part)
		again := make([]byte, btl.MaxHeader)
		require.Equal(t, part, again[:EncodePart(again, whole, p)])
	})
}
