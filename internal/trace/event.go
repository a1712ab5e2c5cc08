package trace

import "encoding/binary"

// A Kind is what has happened.
type Kind uint8

// Kinds of events. Beside them is which members of the event they use; all have Time and Kind.
const (
	none           Kind = iota
	SendPosted          // Op, Context, Peer, Tag, Seq, Bytes
	SendShort           // the same, complete at once: Context, Peer, Tag, Seq, Bytes
	SendOver            // the message begins on a rail: Context, Peer, Seq, Name
	SendMatched         // the receiver has a receive for it: Op
	SendDone            // Op, Failed
	ReceivePosted       // Op, Context, Peer, Tag, Bytes of room
	ReceiveMatched      // Op, Context, Peer, Tag, Seq, Bytes of the message
	ReceiveDone         // Op, Failed
	Unexpected          // a message has come and found no receive yet: Context, Peer, Tag, Seq, Bytes
	WaitBegun           // a call waits: Op, Bytes: for how many requests
	WaitOver            // Op, Failed
	CallBegun           // a collective call: Op, Context, Seq: its number, Name
	CallOver            // Op, Failed
	kinds
)

// An Event is one thing that has happened to a rank. Peer and Tag may be [Any].
type Event struct {
	Time    int64  // ns, by the rank's clock
	Op      uint64 // joins what happens to one operation
	Context uint64 // of the message layer: twice the communicator's number, and one more for collective calls
	Bytes   uint64
	Peer    int32 // rank of the world
	Tag     int32
	Seq     uint32 // the message's place among those of its sender to its receiver in the context
	Name    uint16 // as Recorder.Name has numbered it
	Kind    Kind
	Failed  bool
}

// Any stands for every source, and every tag, of a receive.
const Any = -1

// eventSize is that of an event in a ring, in bytes.
const eventSize = 48

func (e *Event) put(b []byte) {
	_ = b[eventSize-1]
	binary.LittleEndian.PutUint64(b, uint64(e.Time))
	binary.LittleEndian.PutUint64(b[8:], e.Op)
	binary.LittleEndian.PutUint64(b[16:], e.Context)
	binary.LittleEndian.PutUint64(b[24:], e.Bytes)
	binary.LittleEndian.PutUint32(b[32:], uint32(e.Peer))
	binary.LittleEndian.PutUint32(b[36:], uint32(e.Tag))
	binary.LittleEndian.PutUint32(b[40:], e.Seq)
	binary.LittleEndian.PutUint16(b[44:], e.Name)
	b[46], b[47] = byte(e.Kind), 0
	if e.Failed {
		b[47] = 1
	}
}

func (e *Event) get(b []byte) {
	e.Time = int64(binary.LittleEndian.Uint64(b))
	e.Op = binary.LittleEndian.Uint64(b[8:])
	e.Context = binary.LittleEndian.Uint64(b[16:])
	e.Bytes = binary.LittleEndian.Uint64(b[24:])
	e.Peer = int32(binary.LittleEndian.Uint32(b[32:]))
	e.Tag = int32(binary.LittleEndian.Uint32(b[36:]))
	e.Seq = binary.LittleEndian.Uint32(b[40:])
	e.Name = binary.LittleEndian.Uint16(b[44:])
	e.Kind, e.Failed = Kind(b[46]), b[47] != 0
}
