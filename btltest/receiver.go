package btltest

import "github.com/strandmp/strand/btl"

// A Receiver is a [btl.Receiver] that keeps what it is told. The zero value is ready for use.
type Receiver struct {
	// Rank is the peer's; Endpoint is set for one that the peer has opened.
	Rank     int
	Endpoint btl.Endpoint

	// Ups, Writables, Downs, Begun and Dropped count the calls.
	Ups, Writables, Downs, Begun, Dropped int
	// Hello is what Up has shown, Err what Down has said.
	Hello string
	Err   error
	// Freed are the frames that Released was called for.
	Freed []*btl.Frame
	// Frames are those that have arrived, whole or in a landing place.
	Frames []Frame

	// OnFrame is called for each that arrives; its error is that of Deliver or End. OnBegin
	// is called in Begin; its error is that of Begin. Either may be nil.
	OnFrame func(Frame) error
	OnBegin func(header []byte, size int) error
}

var _ btl.Receiver = (*Receiver)(nil)

// A Frame has arrived.
type Frame struct{ Header, Payload string }

// half is a frame that is arriving.
type half struct {
	header  string
	payload []byte
}

// Up implements [btl.Receiver].
func (r *Receiver) Up(hello []byte) { r.Ups, r.Hello = r.Ups+1, string(hello) }

// Writable implements [btl.Receiver].
func (r *Receiver) Writable() { r.Writables++ }

// Released implements [btl.Receiver].
func (r *Receiver) Released(f *btl.Frame) { r.Freed = append(r.Freed, f) }

// Deliver implements [btl.Receiver].
func (r *Receiver) Deliver(header, payload []byte) error {
	return r.arrived(Frame{string(header), string(payload)})
}

func (r *Receiver) arrived(f Frame) error {
	r.Frames = append(r.Frames, f)
	if r.OnFrame != nil {
		return r.OnFrame(f)
	}
	return nil
}

// Begin implements [btl.Receiver]: the landing place is new memory.
func (r *Receiver) Begin(header []byte, size int) (*btl.Landing, error) {
	r.Begun++
	if r.OnBegin != nil {
		if err := r.OnBegin(header, size); err != nil {
			return nil, err
		}
	}
	h := &half{string(header), make([]byte, size)}
	l := &btl.Landing{Owner: h}
	l.Set(size, h.payload, nil, nil)
	return l, nil
}

// End implements [btl.Receiver].
func (r *Receiver) End(l *btl.Landing) error {
	h := l.Owner.(*half)
	return r.arrived(Frame{h.header, string(h.payload)})
}

// Drop implements [btl.Receiver].
func (r *Receiver) Drop(*btl.Landing) { r.Dropped++ }

// Down implements [btl.Receiver].
func (r *Receiver) Down(err error) { r.Downs, r.Err = r.Downs+1, err }
