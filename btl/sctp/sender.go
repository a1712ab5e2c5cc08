package sctp

import (
	"encoding/binary"

	"github.com/strandmp/strand/btl"
)

// A sender is the sending half of a connection. It holds no frame: the stack copies a
// frame, holds it, or refuses it.
type sender struct {
	streams int    // for frames, from 1 on
	frames  uint64 // sent over this association
	head    [prefixSize + maxHeader]byte
}

// init sets the number of streams onto which the lanes are folded. It is the smallest of
// four: ours, what the peer has announced, what the stacks have agreed on, and what the
// peer's window bears.
func (s *sender) init(ours, theirs, agreed, bearable int) {
	s.streams, s.frames = max(min(ours, theirs, agreed, bearable), 1), 0
}

// bearable is the number of streams for which a window has room for a whole frame each,
// and for a control frame. With more streams, half-arrived frames could fill the window,
// with no room for the rest of any.
func (m *module) bearable(window int) int {
	return window/(prefixSize+maxHeader+m.cfg.maxFrame) - 1
}

// stream returns the stream of a lane. The message layer's control frames, and urgent messages, share
// the control stream with our own messages, unless everything is to be on one stream. That stream
// goes before all others, or takes turns with them.
func (s *sender) stream(lane int) uint16 {
	if (lane == btl.ControlLane || lane == btl.UrgentLane) && s.streams > 1 {
		return controlStream
	}
	return uint16(1 + lane%s.streams)
}

// Send implements [btl.Endpoint].
func (ep *endpoint) Send(f *btl.Frame, lane int) btl.Result {
	switch {
	case !ep.Live():
		return ep.Connect()
	case ep.waits:
		return ep.Refuse()
	}
	s := &ep.sender
	n := prefixSize + copy(s.head[prefixSize:], f.Header)
	prefix{payload: f.Size, header: len(f.Header)}.put(s.head[:])
	result := ep.link.assoc.Send(s.stream(lane), ppidData, s.head[:n], f)
	switch result {
	case btl.Done, btl.Taken:
		s.frames++
		ep.counters.FramesSent++
		ep.counters.BytesSent += uint64(n + f.Size)
	case btl.Busy:
		ep.Refuse()
	}
	return result
}

// encodeGoodbye says how many frames were sent.
func encodeGoodbye(frames uint64) []byte {
	return binary.LittleEndian.AppendUint64(nil, frames)
}
