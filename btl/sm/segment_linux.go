package sm

import (
	"encoding/binary"
	"fmt"

	"github.com/strandmp/strand/internal/sealed"
)

// layout is the version of the memory's format. Ranks with different layouts share no memory.
const layout = 6

// bigEndian is the bit of the layout that says in which order the machine has the bytes of words. Ranks of one host differ in
// that where some are emulated.
const bigEndian = 1 << 7

// ours is this process's layout, with that bit.
var ours = func() byte {
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		return layout | bigEndian
	}
	return layout
}()

// A segment is a page of words, then the ring that the maker writes, then the other ring. Words
// that different sides write lie so far apart that no processor fetches both at once.
const (
	page       = 4 << 10
	headWord   = 0   // how many records the side has read
	sleepWord  = 256 // whether the side sleeps or waits, then the processor on which it is, and whether it looks again
	wantsWord  = 512 // which frames the side wants to be lent
	markWord   = 768 // the side's mark, and then its address in the side's process; 0: it does not lend
	sideOfPage = 1024
)

// makeSegment makes memory for two rings, all of it there, and a descriptor to hand it over.
func makeSegment(ring int) (fd int, mem []byte, err error) {
	return sealed.Make("strand-sm", page+2*ring, true)
}

// takeSegment maps memory that a peer has made, if the peer can not take it away again.
func takeSegment(fd int) ([]byte, error) {
	size, err := sealed.Check(fd)
	if err != nil {
		return nil, err
	}
	ring := (size - page) / 2
	if ring < minRing || ring > maxRing || ring&(ring-1) != 0 || size != page+2*ring {
		return nil, fmt.Errorf("the peer's memory has %d bytes, which is not a page and two rings", size)
	}
	return sealed.Map(fd, size, true)
}

// order tells the race detector of both directions.
type order struct{ out, in sealed.Order }

func orderOf(fd int, maker bool) order {
	return order{sealed.OrderOf(fd, !maker), sealed.OrderOf(fd, maker)}
}

// ends are the two ends of a segment as one side has them, and the words about sleeping.
func ends(mem []byte, maker bool) (in reader, out writer, us, them side) {
	ours, theirs := mem[:sideOfPage], mem[sideOfPage:2*sideOfPage]
	ring := (len(mem) - page) / 2
	first, second := mem[page:page+ring], mem[page+ring:]
	if !maker {
		ours, theirs = theirs, ours
		first, second = second, first
	}
	us, them = sideOf(ours), sideOf(theirs)
	in, out = newReader(second, at(ours, headWord)), newWriter(first, at(theirs, headWord))
	return in, out, us, them
}

func sideOf(words []byte) side {
	return side{word: at(words, sleepWord), place: at(words, sleepWord+wordSize), again: at(words, sleepWord+2*wordSize), wants: at(words, wantsWord), mark: at(words, markWord), markAt: at(words, markWord+wordSize)}
}
