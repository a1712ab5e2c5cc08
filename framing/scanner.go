package framing

import "github.com/strandmp/strand/btl"

const (
	// ReadAhead is how much is read before it is known what it belongs to, in bytes. A frame of 64 KB
	// comes in one read, with all that precedes it: to copy it from a cache takes less than a
	// second call. So does what a window of small frames has sent meanwhile.
	ReadAhead = 64<<10 + PrefixSize + btl.MaxHeader + 2*MaxFill
	// wholeLimit is the largest frame, prefix included, that is waited for and handed over
	// whole. A longer one that is not there yet gets a landing place.
	wholeLimit = 4<<10 + PrefixSize
	// directMin is the least room in a landing place that is worth a read of its own. For less
	// the bytes are read ahead and copied.
	directMin = 2 << 10
)

// Buffers lend a [Scanner] the memory that it reads ahead into: pieces of [ReadAhead] bytes,
// for as long as there is something in them.
type Buffers interface {
	Take() []byte
	Back([]byte)
}

// A Scanner finds the frames in a stream and hands them to a receiver. Bytes come in one of
// two ways, which must not be mixed within a stream:
//
//   - whoever reads without waiting asks where to read to, reads, and says how much:
//     [Scanner.Next], [Scanner.Advance]. The payload of a long frame goes straight to its
//     landing place.
//   - whoever has the bytes already shows them: [Scanner.Feed].
//
// Every error ends the stream: nothing may be scanned afterwards. It is
// [btl.ErrPeerClosed] if the peer has said goodbye; any other says what is malformed. Up-calls
// are made from Advance and Feed; one of them may stop the scanner.
type Scanner struct {
	recv    btl.Receiver
	limit   int
	buffers Buffers
	ahead   []byte // read and not yet looked at: ahead[lo:hi]; lent while there is any
	lo, hi  int
	landing *btl.Landing // of the frame that is under way
	frames  uint64
	skip    int  // bytes that come next and are filled in behind a frame that has landed
	head    int  // bytes before the payload of the last frame, if it was too long to be read ahead; else 0
	direct  bool // Next has shown a landing place
	working bool // up-calls are made that refer to ahead
	stopped bool
}

// Start prepares a scanner for a stream whose peer has announced payloads of at most limit
// bytes. With nil for buffers the scanner allocates memory when it first reads ahead, and keeps it.
func (s *Scanner) Start(recv btl.Receiver, limit int, buffers Buffers) {
	*s = Scanner{recv: recv, limit: limit, buffers: buffers}
}

// Frames is how many have come whole.
func (s *Scanner) Frames() uint64 { return s.frames }

// Landing reports whether a frame is half arrived in its landing place.
func (s *Scanner) Landing() bool { return s.landing != nil }

// Holds reports whether the scanner has memory to read ahead into.
func (s *Scanner) Holds() bool { return s.ahead != nil }

// Stop ends the scanner. A frame that is half arrived is dropped ([btl.Receiver.Drop]) or, if
// no up-call may be made any more, forgotten.
func (s *Scanner) Stop(drop bool) {
	s.stopped = true
	l := s.landing
	s.landing = nil
	s.Rest()
	if l != nil && drop {
		s.recv.Drop(l)
	}
}

// Next returns where to read the next bytes to, at least one, and whether that is a landing
// place. The memory is the caller's until it calls Advance, within the same call of the loop.
func (s *Scanner) Next() (b []byte, direct bool) {
	s.direct = false // no Advance follows a read that brought nothing
	if s.landing != nil {
		if p := s.landing.Next(); len(p) >= directMin {
			s.direct = true
			return p, true
		}
	}
	s.lend(ReadAhead)
	if s.hi < s.head {
		// Another long frame is likely, or has begun, and its header is longer. A read more costs less than to copy what was read ahead.
		end := s.skip + s.head
		if s.landing != nil {
			end += s.landing.Left() // to small pieces of memory, or a small rest
		}
		return s.ahead[s.hi:min(end, len(s.ahead))], false
	}
	return s.ahead[s.hi:], false
}

// Direct is how many bytes the next read may bring to a landing place that a [btl.Mover] may have; 0 if
// they are to be read ahead, or by Next. Many of them a Mover reads ([Scanner.Pin]).
func (s *Scanner) Direct() int {
	if s.landing == nil {
		return 0
	}
	if p := s.landing.Next(); s.landing.Pinnable() {
		return len(p)
	}
	return 0
}

// Pin is Next for a [btl.Mover] that reads without the loop's lock. It returns the landing place and
// what is to be read next of it; nil if the Mover can have none ([btl.Landing.Pin]). The Mover ends
// that by [btl.Landing.Unpin]. Landed follows, before anything else is read.
func (s *Scanner) Pin() (*btl.Landing, []byte) {
	if s.landing == nil {
		return nil, nil
	}
	b := s.landing.Pin()
	if b == nil {
		return nil, nil
	}
	return s.landing, b
}

// Landed takes note of what a [btl.Mover] has read, as Advance does of other bytes.
func (s *Scanner) Landed() error {
	if s.landing.Settle(); s.landing.Left() > 0 {
		return nil
	}
	s.working = true
	err := s.landed()
	s.pause()
	return err
}

// Advance takes note of n bytes that were read to where Next said, and hands over what is
// there.
func (s *Scanner) Advance(n int) error {
	s.working = true
	err := s.advance(n)
	s.pause()
	return err
}

func (s *Scanner) advance(n int) error {
	if s.direct {
		s.direct = false
		s.landing.Advance(n)
		if s.landing.Left() > 0 {
			return nil
		}
		return s.landed()
	}
	s.hi += n
	for s.lo < s.hi && !s.stopped {
		used, err := s.step(s.ahead[s.lo:s.hi])
		if err != nil {
			return err
		}
		if used == 0 {
			break
		}
		s.lo += used
	}
	if s.lo == s.hi {
		s.lo, s.hi = 0, 0
	} else if s.lo > 0 {
		s.hi = copy(s.ahead, s.ahead[s.lo:s.hi])
		s.lo = 0
	}
	return nil
}

// Feed hands over the frames in b, the bytes that follow in the stream. B is not needed after the
// call.
func (s *Scanner) Feed(b []byte) error {
	s.working = true
	err := s.feed(b)
	s.pause()
	s.Rest()
	return err
}

func (s *Scanner) feed(b []byte) error {
	for len(b) > 0 && !s.stopped {
		if s.hi == 0 {
			used, err := s.step(b)
			if err != nil {
				return err
			}
			if b = b[used:]; used == 0 {
				s.lend(wholeLimit)
				s.hi = copy(s.ahead, b)
				return nil
			}
			continue
		}
		// The rest of a frame, or of its header, joins what there is of it.
		want := s.want()
		n := copy(s.ahead[s.hi:want], b)
		s.hi, b = s.hi+n, b[n:]
		if s.hi < want {
			return nil
		}
		used, err := s.step(s.ahead[:want])
		if err != nil {
			return err
		}
		if used > 0 {
			s.hi = 0
		}
	}
	return nil
}

// want is how many bytes of the present frame must be read ahead for the next step.
func (s *Scanner) want() int {
	if s.hi < PrefixSize {
		return PrefixSize
	}
	p, err := ParsePrefix(s.ahead, s.limit)
	if err != nil || p.Goodbye {
		return PrefixSize // the step will say so
	}
	if size := p.Size(); size <= wholeLimit {
		return size
	}
	return p.Head()
}

// step handles the frame, or the part of one, that begins with b, and returns how many
// bytes of b it has used; 0 if it needs more.
func (s *Scanner) step(b []byte) (used int, err error) {
	if l := s.landing; l != nil {
		used = l.Fill(b)
		if l.Left() > 0 {
			return used, nil
		}
		return used, s.landed()
	}
	if s.skip > 0 {
		used = min(s.skip, len(b))
		s.skip -= used
		return used, nil
	}
	if len(b) < PrefixSize {
		return 0, nil
	}
	p, err := ParsePrefix(b, s.limit)
	switch {
	case err != nil:
		return 0, err
	case p.Goodbye:
		return 0, btl.ErrPeerClosed
	}
	head, size := p.Head(), p.Size()
	if s.head = 0; size > ReadAhead {
		s.head = head
	}
	switch {
	case len(b) >= size:
		s.frames++
		return size, s.recv.Deliver(b[PrefixSize:PrefixSize+p.Header], b[head:head+p.Payload])
	case len(b) < head || size <= wholeLimit:
		return 0, nil
	}
	s.skip = int(p.Trail)
	l, err := s.recv.Begin(b[PrefixSize:PrefixSize+p.Header], p.Payload)
	if err == nil && !s.stopped {
		s.landing = l
	}
	return head, err
}

// landed ends the frame under way.
func (s *Scanner) landed() error {
	l := s.landing
	s.landing = nil
	s.frames++
	return s.recv.End(l)
}

// lend gets memory to read ahead into: room bytes, or more.
func (s *Scanner) lend(room int) {
	switch {
	case s.ahead != nil:
	case s.buffers != nil:
		s.ahead = s.buffers.Take()
	default:
		s.ahead = make([]byte, room)
	}
}

// pause ends the up-calls of Advance or Feed.
func (s *Scanner) pause() {
	s.working = false
	if s.stopped {
		s.Rest()
	}
}

// Rest gives the memory back if nothing is in it. A caller of Next and Advance calls it when there
// is nothing more to read for now; Feed does so by itself.
func (s *Scanner) Rest() {
	if s.ahead == nil || s.buffers == nil || s.working || s.hi > s.lo && !s.stopped {
		return
	}
	s.buffers.Back(s.ahead)
	s.ahead, s.lo, s.hi = nil, 0, 0
}
