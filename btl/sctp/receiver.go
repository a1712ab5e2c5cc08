package sctp

import (
	"errors"
	"fmt"

	"github.com/strandmp/strand/btl"
)

// A receiver is the receiving half of a connection: what is half arrived on each
// stream. A message is one frame of one stream, so streams can not be mixed up.
type receiver struct {
	streams  []incoming
	control  control
	maxFrame int
	frames   uint64 // frames that have come over this association
	leaving  bool   // the peer has said goodbye
	sent     uint64 // how many frames it had sent, by its goodbye
}

// incoming is the state of one stream.
type incoming struct {
	open    bool // in the middle of a message
	have    int  // bytes of head
	head    [prefixSize + maxHeader]byte
	landing *btl.Landing // once the head is complete
}

func (r *receiver) init(maxFrame, streams int) {
	*r = receiver{maxFrame: maxFrame, streams: make([]incoming, streams)}
}

// drop gives up what is half arrived.
func (r *receiver) drop(recv btl.Receiver) {
	for i := range r.streams {
		s := &r.streams[i]
		if l := s.landing; l != nil {
			s.landing = nil
			recv.Drop(l)
		}
		s.open = false
	}
}

var (
	errCut   = errors.New("malformed frame: its message ends within it")
	errExtra = errors.New("malformed frame: its message goes on behind it")
)

// receive takes a piece of a message.
func (ep *endpoint) receive(stream uint16, ppid uint32, piece []byte, end bool) {
	if !ep.Live() {
		return
	}
	if ep.waits {
		ep.waits = false
		defer ep.offer()
	}
	r := &ep.receiver
	if int(stream) >= len(r.streams) {
		ep.malformed(fmt.Errorf("a message on stream %d, agreed on were %d", stream, len(r.streams)))
		return
	}
	s := &r.streams[stream]
	if stream == controlStream && !s.open && (r.control.open || ppid != ppidData) {
		ep.instruct(ppid, piece, end)
		return
	}
	if !s.open && ppid != ppidData {
		ep.malformed(fmt.Errorf("a message with payload protocol %#08x on stream %d", ppid, stream))
		return
	}
	ep.counters.BytesReceived += uint64(len(piece))
	var err error
	if !s.open && end {
		err = ep.whole(piece)
	} else {
		err = ep.part(s, piece, end)
	}
	if err != nil {
		ep.malformed(err)
		return
	}
	ep.farewell()
}

// whole takes a frame that has come in one piece.
func (ep *endpoint) whole(b []byte) error {
	if len(b) < prefixSize {
		return errCut
	}
	p, err := parsePrefix(b, ep.receiver.maxFrame)
	if err != nil {
		return err
	}
	head := prefixSize + p.header
	switch size := head + p.payload; {
	case len(b) < size:
		return errCut
	case len(b) > size:
		return errExtra
	}
	ep.counted()
	return ep.Recv.Deliver(b[prefixSize:head], b[head:])
}

func (ep *endpoint) counted() {
	ep.receiver.frames++
	ep.counters.FramesReceived++
}

// part takes a piece of a frame.
func (ep *endpoint) part(s *incoming, piece []byte, end bool) error {
	if !s.open {
		s.open, s.have = true, 0
	}
	if s.landing == nil {
		rest, err := ep.begin(s, piece)
		if err != nil {
			return err
		}
		piece = rest
	}
	if l := s.landing; l != nil {
		piece = piece[l.Fill(piece):]
	}
	if len(piece) > 0 {
		return errExtra
	}
	if !end {
		return nil
	}
	l := s.landing
	s.open, s.landing = false, nil
	if l == nil {
		return errCut
	}
	if l.Left() > 0 {
		ep.Recv.Drop(l)
		return errCut
	}
	ep.counted()
	return ep.Recv.End(l)
}

// begin completes the head of a frame from the piece, asks for a landing place
// once it is complete, and returns what is left of the piece.
func (ep *endpoint) begin(s *incoming, piece []byte) ([]byte, error) {
	piece = s.fill(piece, prefixSize)
	if s.have < prefixSize {
		return piece, nil
	}
	p, err := parsePrefix(s.head[:], ep.receiver.maxFrame)
	if err != nil {
		return nil, err
	}
	head := prefixSize + p.header
	if piece = s.fill(piece, head); s.have < head {
		return piece, nil
	}
	s.landing, err = ep.Recv.Begin(s.head[prefixSize:head], p.payload)
	return piece, err
}

// fill completes head up to n bytes.
func (s *incoming) fill(piece []byte, n int) []byte {
	if s.have >= n {
		return piece
	}
	used := copy(s.head[s.have:n], piece)
	s.have += used
	return piece[used:]
}

// instruct takes a piece of a message about the connection.
func (ep *endpoint) instruct(ppid uint32, piece []byte, end bool) {
	r := &ep.receiver
	b, whole, err := r.control.add(ppid, piece, end)
	if err == nil && whole {
		switch r.control.ppid {
		case ppidReady:
		case ppidGoodbye:
			r.leaving = true
			r.sent, err = parseGoodbye(b)
		default:
			err = fmt.Errorf("%w: payload protocol %#08x", errControl, r.control.ppid)
		}
	}
	if err != nil {
		ep.malformed(err)
		return
	}
	ep.farewell()
}

// farewell ends the connection in order once the peer's goodbye and all its frames have
// come. The goodbye may come first: streams do not wait for each other.
func (ep *endpoint) farewell() {
	r := &ep.receiver
	if !r.leaving || !ep.Live() {
		return
	}
	switch got := r.frames; {
	case got == r.sent:
		ep.Goodbye()
	case got > r.sent:
		ep.malformed(fmt.Errorf("%w: goodbye after %d frames, but %d have come", errControl, r.sent, got))
	}
}

func (ep *endpoint) malformed(err error) {
	if ep.Live() {
		ep.Malformed(err)
	}
}
