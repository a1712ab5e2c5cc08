package strand

import (
	"encoding/binary"
	"slices"

	"github.com/strandmp/strand/internal/agreement"
	"github.com/strandmp/strand/pml"
)

// Notices of communicators: which, and what follows.
const (
	noticeLeft      = 1 + iota // a process has left a collective call early
	noticeAgreement            // a step of Agree or Shrink
	noticeFreed                // there is no such communicator here any more
	noticeMissing              // a call of Create has got no answer
	notices                    // the first number that is none
)

// notice begins one: its kind and the communicator.
func notice(kind byte, id uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{kind}, id) }

const noticeHeader = 9

// mostNotice is the length of the longest one in a world, in bytes.
func mostNotice(ranks int) int {
	return noticeHeader + max(leftHeader+255+mostCause, 8+agreement.Length(ranks))
}

// offices are the communicators of a world, which hear notices. The engine's lock guards them.
type offices struct {
	comms map[uint64]*Comm
	early []earlyNotice // for communicators that are not made here yet
}

// earlyNotice is what a rank of the world has said of a communicator.
type earlyNotice struct {
	id   uint64
	from int
	b    []byte
}

// mostEarly is how many notices wait for communicators. What others are ahead of this process is a few calls each. Some communicators are
// never made here, since a call was given up: what waits for them gives way to what comes later.
func (w *World) mostEarly() int { return 1024 + 64*w.Size() }

// listener is the world as the message layer knows it.
type listener World

var _ pml.Listener = (*listener)(nil)

func (w *World) listen() error {
	w.offices = offices{comms: make(map[uint64]*Comm)}
	return w.pml.Listen((*listener)(w), mostNotice(w.Size()))
}

// Notice implements [pml.Listener].
func (l *listener) Notice(from int, b []byte) {
	if len(b) < noticeHeader {
		return
	}
	w, o, id := (*World)(l), &l.offices, binary.LittleEndian.Uint64(b[1:])
	switch c := o.comms[id]; {
	case c != nil:
		c.heed(from, b)
	case w.pml.WasFreed(2*id + 1):
		if b[0] != noticeFreed {
			w.pml.Notify(from, notice(noticeFreed, id))
		}
	default:
		if len(o.early) >= w.mostEarly() {
			o.early = slices.Delete(o.early, 0, 1)
		}
		o.early = append(o.early, earlyNotice{id, from, append([]byte(nil), b...)})
	}
}

// Gone implements [pml.Listener].
func (l *listener) Gone(rank int) {
	for _, c := range l.offices.comms {
		if r := c.group.Rank(rank); r >= 0 {
			c.memberGone(r)
		}
	}
}

// enter has a communicator hear notices, first those that have come early.
func (w *World) enter(c *Comm) {
	w.pml.Locked(func() {
		o := &w.offices
		o.comms[c.id] = c
		var own []earlyNotice
		o.early = slices.DeleteFunc(o.early, func(e earlyNotice) bool {
			if e.id == c.id {
				own = append(own, e)
			}
			return e.id == c.id
		})
		for _, e := range own {
			c.heed(e.from, e.b)
		}
	})
}

// heed takes a notice of a rank of the world.
func (c *Comm) heed(from int, b []byte) {
	rank := c.group.Rank(from)
	if rank < 0 {
		return
	}
	switch rest := b[noticeHeader:]; b[0] {
	case noticeLeft:
		c.heardLeft(rest)
	case noticeAgreement:
		c.heardAgreement(rank, rest)
	case noticeMissing:
		c.heardMissing(rest)
	case noticeFreed:
		if c.pacts.absent == nil {
			c.pacts.absent = make(map[int]bool)
		}
		c.pacts.absent[rank] = true
		c.memberGone(rank)
	}
}

// retire has a communicator that was freed hear no more notices, once nobody depends on what it hears: the communicators that
// it has made miss who has left the call, or Create, and what was given up of Shrink makes others miss this process.
func (c *Comm) retire() {
	if c.freed && len(c.made) == 0 && !c.bearing() && !c.agrees() {
		delete(c.world.offices.comms, c.id)
		if c.forget != nil {
			c.forget()
		}
	}
}

// memberGone takes note of a member that has failed, has left the world or has freed the communicator.
func (c *Comm) memberGone(rank int) {
	if c.leaving.number > 0 {
		c.tellNeighbours()
	}
	c.tellMissingAgain()
	c.memberLeaves(rank)
}
