package udp

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/recovery"
	"github.com/strandmp/strand/wireup"
)

// Kinds of packets. All begin with the kind and the number of the connection that the receiver has
// given it; 0 where the sender does not know that yet.
const (
	kindHello   = 0x11 // number of the sender's, length of a cookie, cookie; message of the handshake; sum
	kindCookie  = 0x12 // cookie
	kindData    = 0x13 // number of the packet; items
	kindAnswer  = 0x14 // number among answers; items, of which none is to be acknowledged
	kindUnknown = 0x15 // rank, proof: there is no such connection, or not any more
)

// Sizes of what stands at the beginning.
const (
	nameSize   = 1 + 8            // kind, connection
	helloSize  = nameSize + 8 + 1 // and sender, length of the cookie
	sumSize    = 4
	numberSize = 8
	headSize   = nameSize + numberSize
	sealSize   = 16 // behind the items of a packet that is protected
)

// Items of a packet. What follows a padding is of no meaning.
const (
	itemPadding = 0x00
	itemPing    = 0x01 // has the packet acknowledged
	itemAck     = 0x02 // held back in µs (4), newest number (8), length of its range - 1 (4), more ranges (1); each gap - 1 (4), length - 1 (4)
	itemFrame   = 0x03 // number (4), length of the header (1), of the payload (4); header, payload
	itemPart    = 0x04 // number (4), length of the header (1), of the whole payload (4), offset (4), length (4); header, payload
	itemBye     = 0x05 // all that the sender had has arrived, and it ends the connection
	itemLeft    = 0x06 // the sender has left and drops the frames that still come
	itemFloor   = 0x07 // number (8): packets below it need not be acknowledged any more
	itemWhere   = 0x08 // token (8): asks for HERE
	itemHere    = 0x09 // token (8) of a WHERE: its sender receives at the address that this comes from
)

// Sizes of items without what they carry.
const (
	frameSize = 1 + 4 + 1 + 4
	partSize  = frameSize + 4 + 4
	ackSize   = 1 + 4 + 8 + 4 + 1
	rangeSize = 8
	floorSize = 1 + 8
	tokenSize = 1 + 8
	// mostRanges bounds what an acknowledgement tells beside the newest range.
	mostRanges = 16
)

var (
	order = binary.LittleEndian

	errShort  = errors.New("the packet ends within an item")
	errItem   = errors.New("an item of an unknown kind")
	errHeader = errors.New("a header of an impossible length")
	errPart   = errors.New("a part that does not fit its frame")
	errNumber = errors.New("a frame that is too far ahead")
	errRange  = errors.New("an impossible range")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendHello makes a HELLO. What the handshake proves is its message alone: a number that was damaged would lead
// to a connection with nobody, so that the packet has a sum (CRC32c).
func appendHello(b []byte, theirs, ours uint64, cookie, message []byte) []byte {
	start := len(b)
	b = order.AppendUint64(appendName(b, kindHello, theirs), ours)
	b = append(append(b, byte(len(cookie))), cookie...)
	b = append(b, message...)
	return order.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// readHello reads a HELLO, kind and name included.
func readHello(b []byte) (theirs uint64, cookie, message []byte, ok bool) {
	if len(b) < helloSize+sumSize {
		return 0, nil, nil, false
	}
	b, sum := b[:len(b)-sumSize], order.Uint32(b[len(b)-sumSize:])
	theirs = order.Uint64(b[nameSize:])
	n := int(b[helloSize-1])
	if n > wireup.CookieSize || len(b) < helloSize+n || crc32.Checksum(b, castagnoli) != sum {
		return 0, nil, nil, false
	}
	return theirs, b[helloSize : helloSize+n], b[helloSize+n:], true
}

func appendName(b []byte, kind byte, to uint64) []byte {
	return order.AppendUint64(append(b, kind), to)
}

func appendHead(b []byte, kind byte, to, number uint64) []byte {
	return order.AppendUint64(appendName(b, kind, to), number)
}

// part is a piece of a frame as it arrives. The memory is the packet's.
type part struct {
	number          uint32
	header, payload []byte
	size            int // of the frame's payload
	offset          int
	whole           bool
}

// readFrame reads an item behind its kind, and returns what follows it.
func readFrame(b []byte, whole bool) (p part, rest []byte, err error) {
	head := partSize - 1
	if whole {
		head = frameSize - 1
	}
	if len(b) < head {
		return p, nil, errShort
	}
	h, length := int(b[4]), 0
	p = part{number: order.Uint32(b), size: int(order.Uint32(b[5:])), whole: whole}
	if length = p.size; !whole {
		p.offset, length = int(order.Uint32(b[9:])), int(order.Uint32(b[13:]))
	}
	b = b[head:]
	switch {
	case h == 0 || h > btl.MaxHeader:
		return p, nil, errHeader
	case len(b) < h || len(b)-h < length:
		return p, nil, errShort
	case length < 0 || p.offset < 0 || length > p.size || p.offset > p.size-length || !whole && length == 0:
		return p, nil, errPart
	}
	p.header, p.payload = b[:h], b[h:h+length]
	return p, b[h+length:], nil
}

func appendFrame(b []byte, number uint32, header []byte, size int) []byte {
	b = order.AppendUint32(append(b, itemFrame), number)
	b = order.AppendUint32(append(b, byte(len(header))), uint32(size))
	return append(b, header...)
}

func appendPart(b []byte, number uint32, header []byte, size, offset, length int) []byte {
	b = order.AppendUint32(append(b, itemPart), number)
	b = order.AppendUint32(append(b, byte(len(header))), uint32(size))
	b = order.AppendUint32(order.AppendUint32(b, uint32(offset)), uint32(length))
	return append(b, header...)
}

func appendAck(b []byte, ranges []recovery.Range, held uint32) []byte {
	b = order.AppendUint32(append(b, itemAck), held)
	b = order.AppendUint64(b, ranges[0].Last)
	b = order.AppendUint32(b, lengthOf(ranges[0]))
	b = append(b, byte(len(ranges)-1))
	for i, r := range ranges[1:] {
		b = order.AppendUint32(b, uint32(ranges[i].First-r.Last-2))
		b = order.AppendUint32(b, lengthOf(r))
	}
	return b
}

// lengthOf is a range's length less one, as far as there is room for it. Where nothing is lost a range goes back to the first packet. What is
// so old was acknowledged before.
func lengthOf(r recovery.Range) uint32 { return uint32(min(r.Last-r.First, math.MaxUint32)) }

// readFloor reads an item behind its kind.
func readFloor(b []byte) (floor uint64, rest []byte, err error) {
	if len(b) < floorSize-1 {
		return 0, nil, errShort
	}
	return order.Uint64(b), b[floorSize-1:], nil
}

// readToken reads an item behind its kind.
func readToken(b []byte) (token uint64, rest []byte, err error) { return readFloor(b) }

// readAck reads an item behind its kind. It appends the ranges to out.
func readAck(b []byte, out []recovery.Range) (ranges []recovery.Range, held uint32, rest []byte, err error) {
	if len(b) < ackSize-1 {
		return nil, 0, nil, errShort
	}
	held = order.Uint32(b)
	last, length, more := order.Uint64(b[4:]), uint64(order.Uint32(b[12:])), int(b[16])
	b = b[ackSize-1:]
	switch {
	case more > mostRanges || length > last:
		return nil, 0, nil, errRange
	case len(b) < more*rangeSize:
		return nil, 0, nil, errShort
	}
	first := last - length
	out = append(out, recovery.Range{First: first, Last: last})
	for range more {
		gap, length := uint64(order.Uint32(b))+2, uint64(order.Uint32(b[4:]))
		if gap+length > first {
			return nil, 0, nil, errRange
		}
		last, first = first-gap, first-gap-length
		out = append(out, recovery.Range{First: first, Last: last})
		b = b[rangeSize:]
	}
	return out, held, b, nil
}
