package btl

import "github.com/strandmp/strand/internal/coherence"

// A Landing is the place a frame's payload is read into. The receiving PML
// makes it, in [Receiver.Begin]; the transport fills it and hands it back with
// [Receiver.End], or with [Receiver.Drop] if the frame breaks off.
//
// The payload may be longer than the memory behind it (a truncated message, a
// request that has ended). What does not fit goes to scratch and is lost; the
// transport need not know.
type Landing struct {
	piece   []byte
	more    [][]byte
	scratch []byte
	left    int
	revoked bool
	shared  bool
	pin     Pin
	moved   int // bytes that a Mover has written and that are not counted yet
	strewn  bool
	staged  bool  // Next has shown scratch, which Advance copies to the place
	place   Place // where the memory is too scattered to be listed; else nil
	at      int   // where in that the payload goes on

	// Owner belongs to whoever made the landing; a transport does not touch it.
	Owner any
}

// Set prepares l for a payload of size bytes, which goes to first, then to the
// pieces of more, then to scratch. Scratch must not be empty unless the pieces
// hold size bytes; what is in it afterwards is of no interest to anyone.
func (l *Landing) Set(size int, first []byte, more [][]byte, scratch []byte) {
	l.Settle()
	l.shared = false
	l.piece, l.more, l.scratch = first, more, scratch
	l.left, l.revoked, l.strewn = size, false, false
	l.place, l.staged = nil, false
}

// A Place is memory that is too scattered for a list of its pieces. Offsets are counted in the bytes of the message that
// belongs there.
type Place interface {
	// Run returns the memory from an offset on, as far as it is in one piece. It is nil where the place ends.
	Run(offset int) []byte
	// Put copies b to the memory from an offset on, as far as there is room.
	Put(offset int, b []byte)
}

// SetPlace is Set for a payload that goes to a place, from an offset on. What is read for short pieces of it goes
// to scratch first.
func (l *Landing) SetPlace(size int, place Place, from int, scratch []byte) {
	l.Set(size, nil, nil, scratch)
	l.place, l.at = place, from
}

// directRun is the shortest piece of a place that a transport is shown. For less, a call of its own costs more
// than a copy.
const directRun = 16 << 10

// Left returns the number of payload bytes still to come.
func (l *Landing) Left() int { return l.left }

// Next returns the memory for the bytes that come next: at least one byte and
// at most Left, or nil if nothing is left. The transport writes to a prefix of
// it and then calls [Landing.Advance]. It must ask again each time it is
// called: the place may have been revoked in the meantime, and where the bytes are
// staged ([Landing.Staged]) other landings use the same memory.
func (l *Landing) Next() []byte {
	if l.left == 0 {
		return nil
	}
	if l.place != nil {
		l.show()
	}
	for len(l.piece) == 0 && len(l.more) > 0 {
		l.piece, l.more = l.more[0], l.more[1:]
	}
	p := l.piece
	if len(p) == 0 {
		p = l.scratch
	}
	if len(p) > l.left {
		p = p[:l.left]
	}
	return p
}

// Advance says that the first n bytes of what [Landing.Next] returned were
// written.
func (l *Landing) Advance(n int) {
	if l.place != nil {
		if l.staged {
			l.place.Put(l.at, l.scratch[:n])
		}
		l.at, l.piece, l.staged = l.at+n, nil, false
	}
	l.left -= n
	if len(l.piece) > 0 {
		l.piece = l.piece[n:]
	}
}

// show finds what Next returns of a place.
func (l *Landing) show() {
	l.piece = l.place.Run(l.at)
	if l.staged = len(l.piece) > 0 && len(l.piece) < min(directRun, l.left); l.staged {
		l.piece = nil
	}
}

// Staged reports whether what [Landing.Next] has returned is copied on by [Landing.Advance]: then the two are called
// together, with nothing of another landing in between.
func (l *Landing) Staged() bool { return l.staged }

// Pin is [Landing.Next] for a [Mover], which reads into the memory in its Move and ends that by
// [Landing.Unpin]. Until then Revoke waits. Pin returns nil if there is no memory that a Mover
// could have: nothing is left to come, the place was revoked, or it belongs to other landings too.
func (l *Landing) Pin() []byte {
	p := l.Next()
	if !l.Pinnable() {
		return nil
	}
	l.pin.Set()
	return p
}

// Pinnable reports whether Pin would return what [Landing.Next] has returned.
func (l *Landing) Pinnable() bool { return l.left > 0 && len(l.piece) > 0 && !l.shared }

// Unpin says that the first n bytes of what [Landing.Pin] returned were written. It is the last that
// [Mover.Move] does with the landing.
func (l *Landing) Unpin(n int) {
	l.moved = n
	l.pin.Clear()
}

// Settle waits until no [Mover] writes to the landing, and counts what one has written, as
// [Landing.Advance] would. The transport calls it in [Mover.End]. So do Set and Revoke: the owner
// calls it only if it looks at the memory before.
func (l *Landing) Settle() {
	l.pin.Wait()
	if n := l.moved; n > 0 {
		l.moved = 0
		l.Advance(n)
	}
}

// Share says that the memory belongs to other landings too, which bring the same bytes by other
// ways. From now on no [Mover] writes to it. Only the owner calls it, for each of them.
func (l *Landing) Share() {
	l.Settle()
	l.shared = true
}

// Fill copies as much of b as is still to come and returns the number of bytes
// it used up.
func (l *Landing) Fill(b []byte) int {
	if l.place != nil {
		n := min(len(b), l.left)
		l.place.Put(l.at, b[:n])
		l.at, l.left, l.piece, l.staged = l.at+n, l.left-n, nil, false
		return n
	}
	used := 0
	for used < len(b) {
		p := l.Next()
		if p == nil {
			break
		}
		n := coherence.Copy(p, b[used:])
		l.Advance(n)
		used += n
	}
	return used
}

// Put writes bytes at their place in the payload, counted from its beginning. It is for a transport
// whose parts of a frame arrive in any order, in the place of Next and Advance. Each byte is put once.
func (l *Landing) Put(offset int, b []byte) {
	l.left -= len(b)
	l.strewn = true
	if l.place != nil {
		l.place.Put(l.at+offset, b)
		return
	}
	for i := -1; i < len(l.more) && len(b) > 0; i++ {
		p := l.piece
		if i >= 0 {
			p = l.more[i]
		}
		if offset >= len(p) {
			offset -= len(p)
			continue
		}
		b = b[copy(p[offset:], b):]
		offset = 0
	}
}

// Begun returns how many bytes from the beginning on are known to be there: none if [Landing.Put] has put
// some, and not all.
func (l *Landing) Begun(size int) int {
	if l.strewn && l.left > 0 {
		return 0
	}
	return size - l.left
}

// Divert has what is still to come go to other memory, which has room for the whole payload. What is there by now the owner has
// copied. Only the owner calls it; the transport notices nothing.
func (l *Landing) Divert(memory []byte) {
	l.Settle()
	if !l.strewn { // else parts may still belong anywhere
		memory = memory[len(memory)-l.left:]
	}
	l.piece, l.more, l.place, l.staged = memory, nil, nil, false
}

// Revoke takes the memory back: all that is still to come goes to scratch. If a [Mover] writes to the
// memory at this moment, Revoke waits until it has done so, which takes as long as that one call.
// Only the owner calls it.
func (l *Landing) Revoke(scratch []byte) {
	l.Settle()
	l.piece, l.more, l.scratch, l.revoked = nil, nil, scratch, true
	l.place, l.staged = nil, false
}

// Revoked reports whether the landing was revoked.
func (l *Landing) Revoked() bool { return l.revoked }
