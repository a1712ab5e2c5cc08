package framing

import "unsafe"

// Within a machine the system copies a stream's bytes twice, by string moves of the processor. They take two thirds of the time, or less,
// where source and destination are as far from the beginning of a line as each other: so a payload is to lie in the system's memory as it
// does in the program's. What is written there in one call begins with a line, or goes on where the call before has ended. Hence
// the frames of such a connection take whole lines, all of them: docs/decisions/0086-frames-of-whole-lines.md.

// line is what frames are filled up to, in bytes: what the processor's caches are made of.
const line = 64

// MaxFill is the most that is filled in before a payload, or behind it, in bytes.
const MaxFill = line - 1

// FillUp has the frame take whole lines of the stream. What is filled in stands before the payload.
func (p *Prefix) FillUp() {
	p.Filling = Filling{}
	p.Lead = uint8(-p.Size() & MaxFill)
}

// FillFor is FillUp for a payload that the system copies from where it is. Payload is its first piece, of which only the address counts. It lies in a
// line of the stream as it does in memory, and something may be filled in behind it.
func (p *Prefix) FillFor(payload []byte) {
	p.Filling = Filling{}
	at := int(uintptr(unsafe.Pointer(unsafe.SliceData(payload))) & MaxFill) //nolint:gosec // it is only counted with
	p.Lead = uint8((at - p.Head()) & MaxFill)
	p.Trail = uint8(-p.Size() & MaxFill)
}
