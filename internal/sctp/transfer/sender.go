package transfer

import (
	"math"
	"time"

	"github.com/strandmp/strand/internal/recovery"
	"github.com/strandmp/strand/internal/sctp/chunk"
	"github.com/strandmp/strand/internal/sctp/stream"
)

// Config says how data is sent.
type Config struct {
	// Outgoing is where it comes from.
	Outgoing *stream.Outgoing
	// TSN is the first.
	TSN uint32
	// Window is how many bytes the peer has room for at first.
	Window uint32
	// Outstanding bounds the bytes that are not acknowledged, whatever room the peer has; 0: it does not.
	Outstanding int
	// Multipath has all paths carry data at the same time.
	Multipath bool
	// Delay has what does not fill a packet wait while anything is under way (Nagle).
	Delay bool
	// Suspect is how many probes in a row a path may leave unanswered before another one is used (RFC 7829,
	// PotentiallyFailed.Max.Retrans).
	Suspect int
	// Patience is how long a single packet is without an answer before that counts as an error. It may be
	// asked for sooner.
	Patience time.Duration
}

// A Sender is the sending half of an association's data.
type Sender struct {
	outstanding
	config    Config
	ways      []way
	primary   int
	last      int // the path of the latest packet
	told      int // bytes that the peer had room for, beyond the cumulative TSN's,
	most      int // and the most that it ever had
	gaps      spans
	news      spans // of the acknowledgement that is being read
	confirmed []*stream.Message
	taken     int    // of these, how many were fetched
	leftFrom  uint64 // where chunks were left,
	leftTo    uint64 // by the acknowledgement that is being read
	withdrawn int64  // when what was withdrawn is to be sent again; 0: nothing was
	resumes   int64  // when something that is paused is lost no sooner; 0: nothing is
	Counters
}

// Counters say what has happened.
type Counters struct {
	Chunks, Again uint64 // that were sent, and of them, those that were not the first time
	Stale         uint64 // acknowledgements that have been overtaken
	Withdrawn     uint64 // chunks that had arrived and were dropped by the receiver
	Duplicates    uint64 // chunks that the receiver says it had twice
	Full          uint64 // times that the peer's window was full
}

// A Chunk is one of a packet.
type Chunk struct {
	TSN      uint32
	Fragment stream.Fragment
	// Immediate has the peer acknowledge it at once: the I bit.
	Immediate bool
}

// NewSender returns one that has sent nothing, and that has no path.
func NewSender(c Config) *Sender {
	first := 1<<32 + uint64(c.TSN) // so that there are numbers below
	s := &Sender{config: c, told: windowOf(c.Window), most: windowOf(c.Window)}
	s.base, s.next = first, first
	return s
}

// windowOf is a window as the peer tells of it, which may be more than an int holds.
func windowOf(window uint32) int { return int(min(window, math.MaxInt32)) }

// Idle reports whether all that there was to send has been confirmed.
func (s *Sender) Idle() bool { return s.base == s.next && s.config.Outgoing.Queued() == 0 }

// Rest gives memory back, where all is confirmed and nothing will be sent for some time. What comes twice from now on is not
// known any more.
func (s *Sender) Rest(now int64) {
	s.ring, s.lost, s.gaps, s.news = nil, numbers{}, nil, nil
	for i := range s.ways {
		s.ways[i].path.Rest(now)
	}
}

// Outstanding is how many bytes were sent and are not acknowledged.
func (s *Sender) Outstanding() int { return s.bytes }

// Repeats reports whether anything is to be sent again.
func (s *Sender) Repeats() bool { return s.lostBytes > 0 }

// TooLong is the chunk for which all others wait, if it is longer than what any active path carries by now: its number, how
// often it was sent, over which path last, and into how many pieces it is cut at most; 0: it is not. A peer that is full of what came before takes none either, whatever its length.
func (s *Sender) TooLong() (n uint64, sends, path, pieces int) {
	if s.base == s.next || s.at(s.base).sends == 1 {
		return 0, 0, 0, 0
	}
	c, longest := s.at(s.base), 0
	for i := range s.ways {
		if w := &s.ways[i]; w.state == Active {
			longest = max(longest, w.packet)
		}
	}
	size := chunk.HeaderSize + c.fragment.Size(s.config.Outgoing.Interleave())
	if longest == 0 || size <= longest || s.told < size && len(s.gaps) == 0 {
		return 0, 0, 0, 0
	}
	return s.base, int(c.sends), int(c.way), (size + longest - 1) / longest
}

// Window is how many more bytes the peer has room for.
func (s *Sender) Window() int { return s.limit() - s.bytes }

func (s *Sender) limit() int { return s.bounded(s.told) }

// bounded is so much of the peer's window as may be used.
func (s *Sender) bounded(window int) int {
	if s.config.Outstanding > 0 {
		return min(window, s.config.Outstanding)
	}
	return window
}

// Confirmed returns the next message all of which has arrived for good; nil: there is none. It is the caller's
// again.
func (s *Sender) Confirmed() *stream.Message {
	if s.taken == len(s.confirmed) {
		s.confirmed, s.taken = s.confirmed[:0], 0
		return nil
	}
	m := s.confirmed[s.taken]
	s.confirmed[s.taken] = nil
	s.taken++
	return m
}

// mostBurst is what is asked for at once.
const mostBurst = 64 << 10

// Next returns the path that the next packet with data goes over, and how many bytes may go over it now, in
// that packet and the ones behind it. There is none if there is nothing to send, or no room for it.
func (s *Sender) Next(now int64) (path, bytes int, ok bool) {
	for i := range s.ways {
		if s.ways[i].probe {
			return i, s.ways[i].packet, true
		}
	}
	if !s.config.Multipath {
		path = s.current()
		bytes = s.room(now, path)
		return path, bytes, bytes > 0
	}
	for k := range s.ways {
		path = (s.last + 1 + k) % len(s.ways)
		if s.carries(path) {
			if bytes = s.room(now, path); bytes > 0 {
				return path, bytes, true
			}
		}
	}
	return 0, 0, false
}

// room is how many bytes may be sent over a path now: as many as there are, or a full packet at least.
func (s *Sender) room(now int64, path int) int {
	w := &s.ways[path]
	wanted := s.wanted(w.packet)
	if wanted == 0 {
		return 0
	}
	room := w.path.Room(now, min(wanted, max(mostBurst, w.packet)))
	if room < min(wanted, w.packet) {
		return 0
	}
	return room
}

// wanted is how many bytes there are to be sent, with headers, for one packet; 0: none.
func (s *Sender) wanted(packet int) int {
	payload, wanted := packet-chunk.HeaderSize-s.header(), 0
	if _, again := s.firstLost(); again {
		wanted = packet + s.lostBytes
	}
	queued := s.config.Outgoing.Queued()
	waits := s.config.Delay && s.bytes > 0 && queued < payload
	if queued > 0 && !waits && s.fresh(payload) {
		wanted += queued + packet - payload
	}
	return wanted
}

func (s *Sender) header() int {
	if s.config.Outgoing.Interleave() {
		return chunk.InterleavedHeader
	}
	return chunk.DataHeader
}

// fresh reports whether a chunk of new data may be sent, for which a packet has so much room (RFC 9260,
// section 6.1, rule A). One may be under way however full the peer is: so it is found out when it has room.
func (s *Sender) fresh(room int) bool {
	if s.full() {
		return false
	}
	return s.bytes == 0 || s.limit()-s.bytes >= min(s.config.Outgoing.Queued(), room)
}

// Take returns the chunks of the next packet over a path, appended to out: none if nothing fits. So many bytes
// are in the packet already, and it may have so many at most. The packet counts as sent. The caller asks
// [Sender.Next] before.
//
// A chunk that is sent again keeps its length. If the path's packets have come to be shorter than that, it is
// alone in a packet that is longer than it may be, and the network has to cut it.
func (s *Sender) Take(now int64, path, used, most int, out []Chunk) []Chunk {
	w := &s.ways[path]
	p := packer{
		Sender: s, way: w, now: now, out: out, start: len(out), size: used, most: most,
		packet: int64(w.path.Next()), carried: Carried{packet: uint32(w.path.Next()), way: uint8(path)},
	}
	p.probing = w.probe
	if w.probe && (w.path.Unanswered() > 1 || s.told < w.packet) && !p.oldest() {
		return out // the next packet has room
	}
	p.again()
	if w.probe {
		p.latest()
	}
	p.fresh()
	w.probe = w.probe && len(p.out) == p.start && used > chunk.HeaderSize
	if len(p.out) > p.start {
		w.path.Send(now, p.size, p.kind, p.carried)
		s.last = path
	}
	return p.out
}

// A packer puts the chunks of one packet together.
type packer struct {
	*Sender
	way        *way
	now        int64
	out        []Chunk
	start      int
	size, most int
	kind       recovery.Kind
	packet     int64
	carried    Carried
	probing    bool
}

// again takes chunks that are lost.
func (p *packer) again() {
	for {
		n, ok := p.firstLost()
		if !ok || !p.fits(n) || !p.carried.add(n) {
			return
		}
		p.repeat(n)
	}
}

// fits reports whether there is room for a chunk, or there would be none in any packet.
func (p *packer) fits(n uint64) bool {
	size := p.at(n).fragment.Size(p.config.Outgoing.Interleave())
	return p.size+size <= p.most || len(p.out) == p.start && p.size <= chunk.HeaderSize && size > p.most-p.size
}

// repeat takes a chunk that was sent before.
func (p *packer) repeat(n uint64) {
	c := p.at(n)
	if c.fate != underWay && c.way == p.carried.way { // another path's window was reduced for what that has lost
		p.kind |= recovery.Repeat
	}
	p.become(n, underWay)
	c.several = c.several || c.way != p.carried.way
	c.before, c.wayBefore = c.packet, c.way
	p.kind |= recovery.Again
	p.Again++
	p.put(n, c)
}

// put puts a chunk into the packet.
func (p *packer) put(n uint64, c *sent) {
	c.packet, c.way, c.at = p.packet, p.carried.way, p.now
	if c.sends < math.MaxUint8 {
		c.sends++
	}
	p.Chunks++
	p.size += c.fragment.Size(p.config.Outgoing.Interleave())
	p.out = append(p.out, Chunk{})
	x := &p.out[len(p.out)-1] // field by field, as [stream.Fragment.Header]
	x.TSN, x.Fragment, x.Immediate = uint32(n), c.fragment, p.probing
}

// fresh takes new data.
func (p *packer) fresh() {
	for {
		room := (p.most - p.size) &^ 3
		if room <= p.header() || !p.Sender.fresh(room-p.header()) || p.carried.count == mostRows && !p.continues() {
			return
		}
		f, ok := p.config.Outgoing.Next(room, p.most-chunk.HeaderSize)
		if !ok {
			return
		}
		n := p.add(f)
		p.carried.add(n)
		p.put(n, p.at(n))
	}
}

// continues reports whether new data belongs to the packet's last row.
func (p *packer) continues() bool {
	return p.carried.rows[mostRows-1].followedBy(p.next)
}

// A probe has something that the peer will acknowledge: what is lost, or new data, or else the latest chunk that
// is under way. The answer then tells of all before it. If no answer has come to that, the next probes bring the
// oldest chunk: a peer that has no room for any other takes that.

// oldest takes the chunk for which all others wait. It reports false if there is one and something else leaves it no room.
func (p *packer) oldest() bool {
	n := p.base
	if n == p.next {
		return true
	}
	if fate := p.at(n).fate; fate != underWay && fate != lost && fate != paused {
		return true
	}
	if !p.fits(n) {
		return p.size <= chunk.HeaderSize
	}
	p.carried.add(n)
	p.repeat(n)
	return true
}

// latest takes the last chunk that is under way, if there is nothing else.
func (p *packer) latest() {
	if len(p.out) > p.start || p.config.Outgoing.Queued() > 0 && p.Sender.fresh(p.most) {
		return
	}
	for n := p.next - 1; n >= p.base; n-- {
		if c := p.at(n); c.fate == underWay && c.way == p.carried.way {
			if p.fits(n) && p.carried.add(n) {
				p.repeat(n)
			}
			return
		}
	}
}
