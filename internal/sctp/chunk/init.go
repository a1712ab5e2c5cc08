package chunk

import "encoding/binary"

// An Init is an INIT or INIT ACK (RFC 9260, sections 3.3.2 and 3.3.3).
type Init struct {
	Tag        uint32 // that the receiver is to put into each packet; never 0
	Window     uint32 // bytes that the sender has room for
	Out, In    uint16 // streams that the sender wants to have, and takes at most; never 0
	TSN        uint32 // the first that the sender will use
	Parameters Fields // when it was read
}

const initSize = 16

// ParseInit reads an INIT or INIT ACK. What is 0 and must not be is for the caller to answer.
func ParseInit(c Chunk) (Init, error) {
	v := c.Value
	if len(v) < initSize {
		return Init{}, malformed(c.Type, "bytes where 16 are due:", len(v))
	}
	return Init{
		Tag:        binary.BigEndian.Uint32(v),
		Window:     binary.BigEndian.Uint32(v[4:]),
		Out:        binary.BigEndian.Uint16(v[8:]),
		In:         binary.BigEndian.Uint16(v[10:]),
		TSN:        binary.BigEndian.Uint32(v[12:]),
		Parameters: Fields{v[initSize:]},
	}, nil
}

// BeginInit begins an INIT or INIT ACK. The caller appends parameters, up to [End].
func BeginInit(b []byte, t Type, i Init) (grown []byte, start int) {
	b, start = Begin(b, t, 0)
	b = binary.BigEndian.AppendUint32(b, i.Tag)
	b = binary.BigEndian.AppendUint32(b, i.Window)
	b = binary.BigEndian.AppendUint16(b, i.Out)
	b = binary.BigEndian.AppendUint16(b, i.In)
	return binary.BigEndian.AppendUint32(b, i.TSN), start
}
