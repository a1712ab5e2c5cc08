package conformance

import (
	"math/rand/v2"

	"github.com/strandmp/strand/btl"
)

// A shape is how a payload is cut into pieces.
type shape uint8

const (
	whole  shape = iota // one piece
	tail                // one piece, but in More
	halves              // two pieces
	gaps                // pieces of random size, many of them empty
	crumbs              // pieces of one byte, up to more than IOV_MAX, then the rest
	shapes              // how many there are
)

// manyPieces is more than the 1,024 that one writev takes (IOV_MAX on Linux).
const manyPieces = 2500

// cut divides memory into the pieces of a shape.
func (s shape) cut(b []byte, rng *rand.Rand) [][]byte {
	switch s {
	case tail:
		return [][]byte{nil, b}
	case halves:
		n := len(b) / 2
		return [][]byte{b[:n], b[n:]}
	case gaps:
		return cutGaps(b, rng)
	case crumbs:
		n := min(len(b), manyPieces)
		pieces := make([][]byte, 0, n+1)
		for i := range n {
			pieces = append(pieces, b[i:i+1])
		}
		return append(pieces, b[n:])
	}
	return [][]byte{b}
}

func cutGaps(b []byte, rng *rand.Rand) [][]byte {
	var pieces [][]byte
	for _, n := range gapSizes(len(b), rng) {
		pieces, b = append(pieces, b[:n]), b[n:]
	}
	return append(pieces, nil, []byte{})
}

// gapSizes are random sizes of pieces, of which the first and many others are empty.
func gapSizes(size int, rng *rand.Rand) []int {
	sizes := []int{0}
	for most := max(1, size/4); size > 0; {
		n := 0
		if rng.IntN(3) > 0 {
			n = 1 + rng.IntN(min(most, size))
		}
		sizes, size = append(sizes, n), size-n
	}
	return sizes
}

// load makes the frame of a shipment.
func (sh *shipment) load(poison *btl.Frame) {
	sh.pieces = nil
	var payload []byte
	if sh.shared {
		payload = noise.at(sh.id, 0)[:sh.size]
	} else {
		payload = make([]byte, sh.size)
		noise.fill(payload, sh.id, 0)
	}
	sh.pieces = sh.shape.cut(payload, sh.from.w.t.noise)
	f := &btl.Frame{Header: sh.header, Payload: sh.pieces[0], Size: sh.size, Owner: sh}
	if len(sh.pieces) > 1 {
		f.More = sh.pieces[1:]
	}
	// The transport's own fields may hold anything when it gets the frame.
	f.Next, f.Progress = poison, 1+int(sh.id%1000)
	sh.frame = f
}

// touched says what of the frame is not as it was sent, or "".
func (sh *shipment) touched() string {
	f := sh.frame
	switch {
	case f.Owner != any(sh):
		return "its Owner was changed"
	case f.Size != sh.size:
		return "its Size was changed"
	case len(f.Header) != len(sh.header) || noise.differs(f.Header, sh.id, 0) >= 0:
		return "its header was changed"
	case len(f.Payload) != len(sh.pieces[0]) || len(f.More) != len(sh.pieces)-1:
		return "its vector was changed"
	}
	offset := 0
	for i, piece := range sh.pieces {
		if i > 0 && len(f.More[i-1]) != len(piece) {
			return "its vector was changed"
		}
		if noise.differs(piece, sh.id, offset) >= 0 {
			return "its payload was changed"
		}
		offset += len(piece)
	}
	return ""
}

// spoil overwrites all that the sender has back, so that a transport that still
// uses it is found out.
func (sh *shipment) spoil(poison *btl.Frame) {
	scribble(sh.header)
	if !sh.shared {
		for _, piece := range sh.pieces {
			scribble(piece)
		}
	}
	*sh.frame = btl.Frame{Header: poison.Header, Payload: poison.Payload, Size: poison.Size, Next: poison}
	sh.pieces = nil
}
