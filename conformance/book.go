package conformance

import (
	"fmt"

	"github.com/strandmp/strand/btl"
)

// A spec says what a frame that is to be sent looks like.
type spec struct {
	header int // bytes, 1 to btl.MaxHeader
	size   int
	shape  shape
	lane   int
	shared bool // the payload is not the frame's own: for floods; up to a period
}

// A shipment is a frame on its way.
type shipment struct {
	spec
	id     uint64
	from   *port
	to     int
	seq    uint64 // in its lane of its endpoint
	key    string
	frame  *btl.Frame
	header []byte
	pieces [][]byte

	taken   bool // the endpoint has it
	held    bool // and the memory
	excused bool // it may be lost: its endpoint went down or was closed
	shown   bool // the receiver has seen its header
	arrived bool
	// recalled: the endpoint has given it back, and may have sent it nevertheless
	recalled bool
	hoard    *hoard // of the connection that keeps it, nil if none does
}

// contents is the rule that is broken if the frame arrives with other bytes.
func (sh *shipment) contents() Rule {
	if sh.recalled {
		return ruleRecall
	}
	return ruleIntact
}

// A book is the account of all frames of a world. It is guarded by the trial's
// mu.
type book struct {
	nextID   uint64
	expected map[string]*shipment // not arrived, by destination and header
	gone     map[string]string    // what became of others, for a while
	ring     []string
	pending  int // taken, not arrived, not excused
	arrivals uint64
}

// memory is how many frames that are gone a book remembers.
const memory = 1 << 12

func newBook() book {
	return book{expected: map[string]*shipment{}, gone: map[string]string{}}
}

func bookKey(to int, header []byte) string {
	return string(append([]byte{byte(to)}, header...))
}

// enter gives the shipment its number and a header that no other frame to the
// same rank has that is under way.
func (b *book) enter(sh *shipment) {
	for range 2 * period {
		b.nextID++
		sh.id = b.nextID
		noise.fill(sh.header, sh.id, 0)
		sh.key = bookKey(sh.to, sh.header)
		if b.expected[sh.key] == nil {
			b.expected[sh.key] = sh
			delete(b.gone, sh.key)
			return
		}
	}
	panic(fmt.Sprintf("conformance: more frames with headers of %d bytes are under way than can be told apart", len(sh.header)))
}

// take notes that an endpoint has taken the frame. It may have arrived already.
func (b *book) take(sh *shipment) {
	sh.taken = true
	if !sh.arrived && !sh.excused {
		b.pending++
	}
}

// strike forgets a frame that was not taken.
func (b *book) strike(sh *shipment) {
	delete(b.expected, sh.key)
	b.remember(sh, "the endpoint had not taken it")
}

func (b *book) excuse(sh *shipment) {
	if sh.excused || sh.arrived {
		return
	}
	sh.excused = true
	if sh.taken {
		b.pending--
	}
}

func (b *book) arrive(sh *shipment) {
	delete(b.expected, sh.key)
	b.remember(sh, "it was delivered before")
	b.arrivals++
	if sh.taken && !sh.excused {
		b.pending--
	}
	if sh.hoard != nil {
		sh.hoard.unread--
	}
	sh.arrived = true
}

// remember keeps what became of a frame whose header is long enough to be unique.
func (b *book) remember(sh *shipment, fate string) {
	if len(sh.header) < 8 {
		return
	}
	b.gone[sh.key] = fate
	b.ring = append(b.ring, sh.key)
	if len(b.ring) > memory {
		delete(b.gone, b.ring[0])
		b.ring = b.ring[1:]
	}
}

// missing says how many frames have not arrived, and which was sent first: whether that is the first of
// its lane, the last, or the longest says more of the cause than the number.
func (b *book) missing() string {
	var first *shipment
	for _, sh := range b.expected {
		if sh.taken && !sh.excused && (first == nil || sh.id < first.id) {
			first = sh
		}
	}
	if first == nil {
		return ""
	}
	return fmt.Sprintf("; %d of the frames that were taken have not arrived; the first is number %d of lane %d of %v, a header of %d bytes and a payload of %d",
		b.pending, first.seq, first.lane, first.from, len(first.header), first.size)
}
