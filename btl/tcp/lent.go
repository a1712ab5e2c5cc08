package tcp

import (
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/tcp/internal/record"
	"github.com/strandmp/strand/framing"
)

// A lender lends buffers to connections for as long as they hold bytes: a connection at
// rest has none. The buffer that came back last is lent next, since it is still in the
// processor's caches. Its methods are serial, as all calls of a module are.
type lender struct {
	small, large stock
	out, in      stock // for records of encrypted connections
	loop         btl.Loop
	tidying      btl.Timer // nil: nothing is to be tidied up
}

const (
	// smallBuffer is enough for what is mostly held back for a moment.
	smallBuffer = 9 << 10
	// largeBuffer is enough to read ahead, and for all that is held back.
	largeBuffer = framing.ReadAhead
	// kept is how many free bytes of each size are kept for good.
	kept = 1 << 20
	// tidyEvery is how often free buffers beyond that are looked at. Those that were not
	// used in between are given up.
	tidyEvery = time.Second
)

// A stock is the free buffers of one size.
type stock struct {
	size  int
	free  [][]byte
	spare int // this many were not used since the last look
}

func newLender(loop btl.Loop) lender {
	return lender{
		small: stock{size: smallBuffer}, large: stock{size: largeBuffer},
		out: stock{size: record.WriteBuffer}, in: stock{size: record.ReadBuffer},
		loop: loop,
	}
}

func (s *stock) take() []byte {
	last := len(s.free) - 1
	if last < 0 {
		return make([]byte, s.size)
	}
	b := s.free[last]
	s.free[last] = nil
	s.free = s.free[:last]
	s.spare = min(s.spare, last)
	return b
}

// back takes a buffer back, or none.
func (l *lender) back(b []byte) {
	s, b := &l.small, b[:cap(b)]
	switch len(b) {
	case 0:
		return
	case largeBuffer:
		s = &l.large
	case record.WriteBuffer:
		s = &l.out
	case record.ReadBuffer:
		s = &l.in
	}
	s.free = append(s.free, b)
	if len(s.free)*s.size > kept {
		l.tidyLater()
	}
}

func (l *lender) tidyLater() {
	if l.tidying == nil {
		l.tidying = l.loop.After(tidyEvery, l.tidy)
	}
}

func (l *lender) stocks() [4]*stock { return [4]*stock{&l.small, &l.large, &l.out, &l.in} }

// close keeps nothing.
func (l *lender) close() {
	if l.tidying != nil {
		l.tidying.Stop()
		l.tidying = nil
	}
	for _, s := range l.stocks() {
		s.free = nil
	}
}

// tidy gives up what has not been used for a while.
func (l *lender) tidy() {
	l.tidying = nil
	for _, s := range l.stocks() {
		surplus := len(s.free) - kept/s.size
		if n := min(s.spare, surplus); n > 0 {
			rest := copy(s.free, s.free[n:])
			clear(s.free[rest:])
			s.free = s.free[:rest]
			surplus -= n
		}
		s.spare = len(s.free)
		if surplus > 0 {
			l.tidyLater()
		}
	}
}

// ahead is the lender as a connection's [framing.Scanner] sees it.
type ahead lender

// Take implements [framing.Buffers].
func (a *ahead) Take() []byte { return a.large.take() }

// Back implements [framing.Buffers].
func (a *ahead) Back(b []byte) { (*lender)(a).back(b) }
