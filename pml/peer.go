package pml

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/pml/credit"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/lanes"
	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/selection"
)

// peer is what we know of another process of the world, or of this one as a
// destination of its own messages. It is made at the first contact.
type peer struct {
	pml     *PML
	rank    int
	host    string
	rails   []*rail
	ways    rails.Peer // the same, and what stands by: which serve, which is tried next
	turn    btl.Timer  // ends its turn to be met; nil: it has none
	inLine  bool       // it waits for one
	waker   btl.Timer  // has the next step towards the peer be made
	wakes   int64      // when; 0: not
	choice  selection.Choice
	poller  btl.Poller // the first rail's endpoint, if it can poll
	failure error      // why no operation with it can complete any more
	why     why
	local   bool                  // frames to it need no acknowledgement
	differs representation.Traits // those that one of it and this process has

	stranger bool // it was contacted to find out whether it has left

	restrained bool   // something is held back until more is acknowledged
	resumed    bool   // a send that rested can go on
	lateAck    uint32 // what it has acknowledged, if that is to be noted yet
	inquires   bool   // the peer is to be asked what has arrived

	// Sending.
	laneSeq   []uint32       // the next number in each lane; the last is the urgent one
	spread    lanes.Peer     // which lanes tags get
	sends     int            // not complete
	taking    int            // receives that have matched a message of its and are not complete
	waiting   opQueue        // sends that are not launched
	networks  []network      // that carry messages, the quickest first; none if one rail does
	parallel  bool           // one of them has several rails, over which the lanes are spread
	options   []option       // to choose between them, for reuse
	narrow    bool           // some rail was not connected so far
	since     int64          // since when the fastest of the networks has had something to do
	backlog   delivery.Queue // frames that no rail would take: control and short messages
	bulk      delivery.Queue // likewise, pieces of long messages
	express   express        // what is urgent
	streams   opQueue        // cleared sends with data still to be cut into frames
	packed    int            // memory of copies that frames of scattered messages have
	unpacking bool           // some of it has to be given back before more are made
	sent      delivery.Sender
	credit    credit.Sender
	awaited   awaited
	lent      int    // bytes of sends that wait for nothing but its acknowledgement,
	inquired  uint32 // and the number of the next frame when it was asked for that

	cameBefore uint64 // bytes that had come when a long message went there alone for the last time

	// Receiving.
	lanes       []*match.Lane
	received    delivery.Receiver
	grant       credit.Receiver
	numbers     match.Sender // of messages that are here before older ones
	holds       holdings
	begun       []*inbound   // frames whose payload is arriving
	withdrawing []*operation // receives whose messages were given back, as long as the peer may not know
	ackQueue    bool         // in the PML's list of peers to acknowledge to
	heard       *rail        // the last one that brought anything
	beat        uint32       // when a rail that carries everything did, in beats
	wanted      uint32       // the last beat at which something depended on the peer
	moves       uint32       // frames acknowledged, and frames that arrived on the general path
	lookedAt    uint32       // the number of the next frame when acknowledgements were looked for in between (lookAfter)
	unawaited   bool         // it is to be told that a long message that it sent at once found no receive

	goodbye goodbyeState
}

// peerOf returns the peer of a world rank, which it makes at the first contact.
func (p *PML) peerOf(rank int) *peer {
	if pe := p.met(rank); pe != nil {
		return pe
	}
	pe := &peer{pml: p, rank: rank, laneSeq: make([]uint32, p.tune.lanes+1), spread: lanes.Peer{Lanes: p.tune.lanes}}
	if rank != p.rank { // nothing overtakes within a process
		pe.numbers.Limit = 2 * p.bounds.frames // in the order of contexts, and of lanes
	}
	pe.sent.Most = p.bounds.frames
	pe.received.MaxUnfinished, pe.received.MaxGaps = p.bounds.frames, p.bounds.gaps
	p.peers[rank] = pe
	return pe
}

// met returns the peer of that rank, or nil if nothing was ever wanted of it.
func (p *PML) met(rank int) *peer {
	near := &p.near[uint(rank)%uint(len(p.near))]
	if pe := *near; pe != nil && pe.rank == rank {
		return pe
	}
	pe := p.peers[rank]
	if pe != nil {
		*near = pe
	}
	return pe
}

// up reports whether frames can be sent to the peer now, as far as its rails are
// concerned.
func (pe *peer) up() bool {
	for _, r := range pe.rails {
		if r.up() {
			return true
		}
	}
	return false
}

// attach makes the peer known by its rails.
func (pe *peer) attach(host string, choice selection.Choice, all []*rail) {
	pe.host, pe.choice, pe.rails = host, choice, all
	ways := make([]*rails.Rail, len(all))
	for i, r := range all {
		ways[i] = &r.way
	}
	pe.ways.Attach(ways)
	pe.local = pe.self() // a peer elsewhere must hear of a message that is given back first
	for _, r := range all {
		pe.local = pe.local && r.attr.Confirms && r.attr.Unbreakable
	}
	pe.choosePoller()
}

// choosePoller finds out which rails carry messages now, and where they arrive.
func (pe *peer) choosePoller() {
	pe.poller = nil
	pe.chooseNetworks()
	for _, r := range pe.rails {
		if r.serves() && r.poller != nil {
			pe.poller = r.poller
			return
		}
	}
}

// control returns the rail for control frames and short messages: the first that
// serves, in the order of latency; else any that is connected, or nil.
func (pe *peer) control() *rail {
	var other *rail
	for _, r := range pe.rails {
		if r.serves() {
			return r
		}
		if other == nil && r.up() {
			other = r
		}
	}
	return other
}

// readyRail returns the rail for a control frame that may take any rail: the one for
// control frames, or another one that serves if that is busy. It is nil if all are busy.
func (pe *peer) readyRail() *rail {
	if r := pe.control(); r == nil || !r.busy {
		return r
	}
	return pe.freeRail()
}

// waits reports whether anything waits for a rail.
func (pe *peer) waits() bool {
	return pe.goodbyeIsDue() || pe.goodbye.owed || pe.backlog.Len() > 0 || pe.sent.Replays() > 0 || pe.bulk.Len() > 0 || pe.waiting.head != nil || pe.streams.head != nil || pe.hasUrgent()
}

// lane returns the receiving side of a lane.
func (pe *peer) lane(n uint16) *match.Lane {
	for int(n) >= len(pe.lanes) {
		pe.lanes = append(pe.lanes, nil)
	}
	if pe.lanes[n] == nil {
		pe.lanes[n] = match.NewLane(&pe.numbers)
	}
	return pe.lanes[n]
}

// fail declares that nothing more will be heard from the peer: every operation
// that depends on it ends with err.
func (pe *peer) fail(stage rails.Stage, err error) {
	if pe.ways.Stage == rails.Failed || pe.ways.Stage == rails.Closed {
		return
	}
	p := pe.pml
	pe.ways.End(stage)
	pe.endTurn()
	pe.failure = err
	pe.wakeAt(0)
	pe.revoke(func(*operation) bool { return true })
	pe.takeBack()
	for _, c := range p.contexts {
		c.memberLeft(pe)
	}
	p.eachOperation(func(op *operation) {
		switch {
		case op.peer == pe && op.isSend && op.arrived():
			// The peer has left, and has all that it wants of the send, which
			// waits only for the transport to release its buffer.
		case op.peer == pe:
			op.abandon(err)
		case !op.isSend && op.recv.Posted() && int(op.recv.Source) == pe.rank:
			op.abandon(err)
		case op.fromAnybody():
			if err := op.doomed(); err != nil {
				op.abandon(err)
			} else if op.blocked > 0 {
				op.context.seekCompany()
			}
		}
	})
	pe.waiting, pe.streams, pe.withdrawing = opQueue{}, opQueue{}, nil
	pe.forgetUrgent()
	pe.grant.Expire(p.tune.creditFirst, &p.unpromised)
	if pe.unreachable() {
		pe.breakOff()
	}
	p.wakeProbers()
	p.checkClosing()
	p.tellGone(pe.rank)
}

// abandon ends an operation whose peer is gone. A receive has no message then. What it was told when it matched, the
// length for example, or that this is too much, counts no more.
func (op *operation) abandon(err error) {
	if !op.isSend {
		op.context.match.Cancel(&op.recv)
		op.err, op.status.Count = nil, 0
	}
	op.complete(err)
}

// abandonSends ends the sends to a peer that is gone, when its last rail is gone too.
func (pe *peer) abandonSends() {
	pe.pml.eachOperation(func(op *operation) {
		if op.isSend && op.peer == pe {
			op.abandon(pe.failure)
		}
	})
	pe.pml.checkClosing()
}

// dropFrames forgets those frames to the peer that the peer has not got, or all of them.
func (pe *peer) dropFrames(all bool) {
	// Numbered frames that wait for a rail are in the window too.
	for _, q := range []*delivery.Queue{&pe.backlog, &pe.bulk, &pe.express.frames} {
		for f := q.Pop(); f != nil; f = q.Pop() {
			if !f.Numbered() {
				frameOf(f).lose()
				settleFrame(f)
			}
		}
	}
	pe.sent.Abandon(func(f *delivery.Frame, delivered bool) {
		if !delivered {
			frameOf(f.Whole()).lose()
		}
		settleFrame(f)
	})
	for r := range pe.everyRail {
		for d := r.line.Newest(); d != nil; d = d.Older() {
			// The peer has the frame. A send of which it wants no more waits until the
			// transport releases the frame. Any other operation ends now, and another one may
			// have its place by then.
			f := frameOf(d.Whole())
			if waits := f.op != nil && f.op.isSend && f.op.arrived(); all || !waits {
				f.lose()
			}
		}
	}
}

// opQueue is a first-in-first-out queue of operations.
type opQueue struct {
	head, tail *operation
	shortest   bool // of cleared sends, whose turn it is (see nextStream)
}

func (q *opQueue) push(op *operation) {
	op.next = nil
	if q.tail == nil {
		q.head = op
	} else {
		q.tail.next = op
	}
	q.tail = op
}

func (q *opQueue) pop() *operation {
	op := q.head
	if op != nil {
		if q.head = op.next; q.head == nil {
			q.tail = nil
		}
		op.next = nil
	}
	return op
}

// remove takes an operation out, if it is in the queue.
func (q *opQueue) remove(op *operation) {
	if q.head == op {
		q.pop()
		return
	}
	rest := *q
	q.head, q.tail = nil, nil
	for next := rest.pop(); next != nil; next = rest.pop() {
		if next != op {
			q.push(next)
		}
	}
}

// goodbyeState is how far closing has come with a peer.
type goodbyeState struct {
	said     bool  // ours is on its way
	over     *rail // this one, that it was given to
	at       int64 // then
	answered bool  // it has answered ours, or said its own
	owed     bool  // we have not answered its
}
