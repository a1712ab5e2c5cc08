package sm

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/borrowing"
	"github.com/strandmp/strand/internal/rawio"
)

// A pipe is an established connection: the socket, the memory, and the frames that wait for room
// in the memory. It belongs to an endpoint, and after the endpoint to its linger.
type pipe struct {
	m     *module
	owner owner
	fd    int
	conn  rawio.Conn // of fd, for the bell
	watch btl.Watch
	mem   []byte
	in    reader
	out   writer
	us    side
	them  side
	order order

	tried  bool             // whether the peer's memory can be read
	peer   borrowing.Reader // if so
	mover  loanMover        // reads it
	wants  appraisal        // what the peer should lend
	choice choice           // what we lend
	loans  []loan           // frames that are lent, the oldest first
	lent   int              // their bytes

	first, last *btl.Frame // the frames that wait, linked by Next
	count       int
	begun       bool // the header of the first has been written
	ours        bool // the first is the copied rest of a frame that was recalled
	parting     bool // a goodbye is to be written after them
	bells       uint64
	unheard     btl.Timer // until a bell is rung again that the system has refused

	fresh   bool // Poll of the endpoint has just looked
	behind  bool // the last look has found a frame
	working bool // an up-call may refer to the memory, which must stay mapped
	closed  bool
}

// An owner of a pipe does what there is to do.
type owner interface {
	// progress is called where something has arrived or something waits.
	progress() bool
	// event is called when the socket is readable.
	event() bool
	// hears reports whether what arrives is of interest.
	hears() bool
}

const (
	// maxQueued bounds the frames that wait for room.
	maxQueued = 8
	// bellsAtOnce is how many bells one read takes, and bellReads how many reads there are in a row: together
	// for more of them than find room in a socket, each sent alone.
	bellsAtOnce, bellReads = 64, 8
	// bell is the byte that wakes a peer.
	bell = 1
)

var bells = [1]byte{bell}

func (m *module) newPipe(o owner, fd int, mem []byte, maker bool, order order) (*pipe, error) {
	p := &pipe{m: m, owner: o, fd: fd, conn: rawio.NewConn(fd), mem: mem, order: order}
	p.in, p.out, p.us, p.them = ends(mem, maker)
	p.wants.wants, p.choice.wants = p.us.wants, p.them.wants
	p.settle()
	if m.looksAgain() {
		p.us.again.Store(1)
	}
	var err error
	if p.watch, err = m.loop.Watch(fd, (*socketEvents)(p)); err != nil {
		return nil, err
	}
	m.pipes = append(m.pipes, p)
	return p, nil
}

// socketEvents is the pipe as the loop sees it.
type socketEvents pipe

// Poll implements [btl.Handler].
func (s *socketEvents) Poll(bool) bool { return s.owner.event() }

// close ends the connection. The memory is unmapped once no up-call refers to it.
func (p *pipe) close() {
	if p.closed {
		return
	}
	p.closed = true
	p.m.forget(p)
	p.watch.Stop()
	p.silence()
	unix.Close(p.fd)
	p.first, p.last, p.count = nil, nil, 0
	p.endLoans()
	p.unmap()
}

func (p *pipe) unmap() {
	if p.closed && !p.working && p.mem != nil {
		_ = unix.Munmap(p.mem)
		p.mem, p.in, p.out = nil, reader{}, writer{}
	}
}

// waits reports whether anything waits for room, or for the peer to read it.
func (p *pipe) waits() bool { return p.first != nil || p.parting || len(p.loans) > 0 }

// canGoOn reports whether the peer has done what was waited for.
func (p *pipe) canGoOn() bool {
	return (p.first != nil || p.parting) && p.out.head.Load() != p.out.seen || len(p.loans) > 0 && p.isBack(&p.loans[0])
}

// awaits says what wakes us while we sleep.
func (p *pipe) awaits() uint64 {
	if p.waits() {
		return sleeps | needRoom
	}
	return sleeps
}

// await is called when something begins to wait for room. If the rank sleeps, it has said what for
// before there was that. It says so now, and then looks once more, as in Doze.
func (p *pipe) await() {
	if p.us.word.Load()&sleeps == 0 {
		return // it is awake, or was just woken
	}
	p.us.word.Store(p.awaits())
	if p.canGoOn() {
		p.m.loop.Post(func() {
			if !p.closed {
				p.owner.progress()
			}
		})
	}
}

// wake rings the bell if the peer sleeps and waits for this (see sleeps and needRoom).
func (p *pipe) wake(what uint64) {
	if p.them.word.Load() != 0 {
		p.rouse(what)
	}
}

// rouse is wake for a peer that sleeps, or waits for long.
func (p *pipe) rouse(what uint64) {
	if p.them.sleepsFor(what, p.them.word.Load()) {
		p.ring()
	}
	if p.m.meeter != nil {
		p.m.meeter.Meet(p.them.processor())
	}
}

// ringAgain is the time until a bell is rung again that the system has refused.
const ringAgain = 5 * time.Millisecond

// ring wakes the peer, now or later: it sleeps until this side has done so. The system may have no memory for the byte.
func (p *pipe) ring() {
	p.bells++
	switch _, errno := p.conn.Send(bells[:]); errno {
	case 0,
		syscall.EAGAIN,                    // the socket is full, so the peer has bells to read already
		syscall.EPIPE, syscall.ECONNRESET: // the peer is gone, as heard finds out
	default:
		p.silence()
		p.unheard = p.m.loop.After(ringAgain, p.ring)
	}
}

// silence stops what would ring again.
func (p *pipe) silence() {
	if p.unheard != nil {
		p.unheard.Stop()
		p.unheard = nil
	}
}

// heard reads the bells, and reports whether there were any. End is not nil if the connection is
// over, and says why.
func (p *pipe) heard() (did bool, end error) {
	b := p.m.scratch[:bellsAtOnce]
	for range bellReads {
		n, errno := p.conn.Recv(b)
		switch {
		case errno == syscall.EAGAIN:
			return did, nil
		case errno != 0:
			return true, errno
		case n == 0:
			return true, errNoGoodbye
		}
		did = true
		for _, c := range b[:n] {
			if c != bell {
				return true, errBell
			}
		}
	}
	return true, nil // the system tells of what is left
}

// What has become of a frame that was to be written.
type fate uint8

const (
	waiting fate = iota // there is no room for all of it
	written
	lent
)

// write writes as much of a frame, or of its rest, as there is room for, or lends it.
func (p *pipe) write(f *btl.Frame) fate {
	p.order.out.Wrote()
	if !p.begun {
		var done bool
		how := written
		switch {
		case wordSize+len(f.Header)+f.Size <= wholeLimit:
			done = p.out.whole(f)
		case p.lendable(f):
			done, how = p.lend(f), lent
		default:
			return p.pieces(f)
		}
		if !done {
			return waiting
		}
		p.wake(sleeps)
		return how
	}
	return p.pieces(f)
}

// pieces is write for a frame that is copied in pieces.
func (p *pipe) pieces(f *btl.Frame) fate {
	if p.begun {
		return p.morePieces(f)
	}
	if !p.out.begin(f) {
		return waiting
	}
	p.begun = true
	p.wake(sleeps)
	return p.morePieces(f)
}

// morePieces is pieces for a frame whose header is written.
func (p *pipe) morePieces(f *btl.Frame) fate {
	most := p.out.pieceOf(f.Size)
	for f.Progress < f.Size {
		n := p.out.piece(f, most)
		if n == 0 {
			return waiting
		}
		f.Progress += n
		p.wake(sleeps)
	}
	p.begun = false
	return written
}

func (p *pipe) enqueue(f *btl.Frame) {
	f.Next = nil
	if p.last == nil {
		p.first = f
	} else {
		p.last.Next = f
	}
	p.last = f
	p.count++
}

// push writes what waits, as far as there is room. It returns the frames that are written whole,
// and whether anything was written.
func (p *pipe) push() (whole [maxQueued]*btl.Frame, n int, did bool) {
	before, first := p.out.count, p.first
	for p.first != nil {
		f := p.first
		how := p.write(f)
		if how == waiting {
			break
		}
		if p.first = f.Next; p.first == nil {
			p.last = nil
		}
		p.count--
		if f.Next = nil; !p.ours && how == written {
			whole[n] = f
			n++
		}
		p.ours = false
	}
	return whole, n, p.out.count != before || p.first != first
}

// queued counts the bytes that wait.
func (p *pipe) queued() int {
	n := 0
	for f := p.first; f != nil; f = f.Next {
		n += f.Size - f.Progress
		if f != p.first || !p.begun {
			n += len(f.Header)
		}
	}
	return n
}

// recall lets go of all frames. A frame that was begun goes on from a copy; recall returns the
// length of that copy.
func (p *pipe) recall() (copied int) {
	f := p.first
	switch {
	case f == nil || p.ours:
		// The copied rest of an earlier recall is not the host's memory: it stays.
	case !p.begun:
		f = nil
	default:
		rest := make([]byte, 0, f.Size-f.Progress)
		f.Pieces(f.Progress, func(b []byte) bool {
			rest = append(rest, b...)
			return true
		})
		copied = len(rest)
		f, p.ours = &btl.Frame{Payload: rest, Size: len(rest)}, true
	}
	p.first, p.last, p.count = f, f, 0
	if f != nil {
		f.Next, p.count = nil, 1
	}
	return copied + p.recallLoans()
}

// keep makes all frames that wait copies of our own.
func (p *pipe) keep() {
	p.copyLoans()
	frames := p.first
	p.first, p.last, p.count = nil, nil, 0
	for f := frames; f != nil; f = f.Next {
		own := &btl.Frame{Header: append([]byte(nil), f.Header...), Size: f.Size - f.Progress}
		f.Pieces(f.Progress, func(b []byte) bool {
			own.Payload = append(own.Payload, b...)
			return true
		})
		p.enqueue(own)
	}
}
