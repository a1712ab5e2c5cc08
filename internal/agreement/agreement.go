// Package agreement has processes agree on a value although some of them fail meanwhile. It is pure:
// messages and failures go in, messages and the decision come out.
//
// It is consensus in three steps under a coordinator: every process gives its vote; the coordinator makes one value of
// all votes and proposes it; when all have accepted it, it is decided, and everybody is told. The
// coordinator is the lowest process that is not gone. If it goes, the next one asks for votes again; a vote
// then says which proposal the process has accepted, and the newest of these is proposed again. A
// value is decided only after all that are not gone have accepted it, so that no later coordinator
// proposes another one: agreement is uniform, also with those that have decided and are gone.
// (Buntinas, "Scalable Distributed Consensus to Support MPI Fault Tolerance", IPDPS 2012, with ballots as Paxos
// has them where two processes are coordinators at the same time, since one takes the other for gone.)
//
// It takes what it is told of failures for the truth. Where each of two processes takes the other for gone,
// and no third joins them, each decides for itself.
package agreement

import "cmp"

// A Value is what is agreed on.
type Value struct {
	Flags uint64 // those that all have given
	ID    uint64 // what the coordinator has made for the decision
	Kind  uint8  // what the processes are about
	Odd   int32  // a process that is about something else than the lowest; −1: there is none
	Gone  Set    // processes that some voter, or the coordinator, takes for gone
	Known Set    // of these, those of which all voters have taken note before
}

// A Kind says what a message is.
type Kind uint8

// The messages: their ballot says of which coordinator's round they are.
const (
	Query   Kind = 1 + iota // a coordinator asks for a vote
	Vote                    // what a process gives, or the proposal that it has accepted
	Propose                 // a coordinator's value
	Accept                  // of a proposal
	Refuse                  // there is a newer ballot, which is the message's
	Decide                  // the value is decided
)

// A Message is what a process sends to another one.
type Message struct {
	Kind     Kind
	Ballot   int64
	Accepted int64 // of a vote: the ballot of the proposal that it is; −1 if it is the process's own
	Value    Value // of Vote, Propose and Decide
}

// A Node is one process's part in one agreement. Messages between two processes arrive in order.
type Node struct {
	self, size int
	send       func(to int, m Message)
	decided    func(Value)
	id         func(kind uint8) uint64

	own      *Value
	promised int64 // the newest ballot that was heard of; −1: none
	asked    bool  // its coordinator waits for a vote
	accepted *Value
	ballot   int64 // of accepted
	outcome  *Value
	gone     []bool
	owed     []bool // were refused: they are told of the decision

	leads    bool
	lead     int64 // the ballot
	votes    map[int]Message
	proposal *Value
	accepts  map[int]bool
}

// New returns the part of a process. Send sends a message, and must not call back. Decided is called once.
// ID makes what the decision of a kind is to have for an id.
func New(self, size int, send func(to int, m Message), id func(kind uint8) uint64, decided func(Value)) *Node {
	return &Node{self: self, size: size, send: send, id: id, decided: decided, promised: -1, ballot: -1,
		gone: make([]bool, size), owed: make([]bool, size), votes: make(map[int]Message)}
}

// Contribute gives the process's own value. Its ID counts for nothing.
func (n *Node) Contribute(v Value) {
	n.own = &v
	n.proceed()
}

// Leave says that a process is gone.
func (n *Node) Leave(rank int) {
	if n.gone[rank] || rank == n.self {
		return
	}
	n.gone[rank] = true
	n.proceed()
}

// Outcome returns what was decided, or nil.
func (n *Node) Outcome() *Value { return n.outcome }

// farAhead is how many rounds newer a ballot may be than those that were heard of. Each process that fails, or that another one takes
// for gone, makes some. So a process that claims a last round, after which there is none, is not believed.
const farAhead = 1 << 20

func (n *Node) believes(ballot int64) bool {
	return ballot/int64(n.size)-n.promised/int64(n.size) <= farAhead
}

// Receive takes a message.
func (n *Node) Receive(from int, m Message) {
	if !n.believes(m.Ballot) {
		return
	}
	if n.outcome != nil {
		if m.Kind == Query || m.Kind == Vote || m.Kind == Propose {
			n.send(from, Message{Kind: Decide, Value: *n.outcome})
		}
		return
	}
	switch m.Kind {
	case Decide:
		n.decide(m.Value)
	case Query, Propose:
		if m.Ballot < n.promised {
			n.owed[from] = true
			n.send(from, Message{Kind: Refuse, Ballot: n.promised})
			return
		}
		n.promise(m.Ballot)
		if m.Kind == Query {
			n.asked = true
			n.vote()
			return
		}
		n.accepted, n.ballot = &m.Value, m.Ballot
		n.send(from, Message{Kind: Accept, Ballot: m.Ballot})
	case Vote:
		if old, has := n.votes[from]; !has || m.Ballot >= old.Ballot {
			n.votes[from] = m
		}
		n.proceed()
	case Accept:
		if n.leads && m.Ballot == n.lead && n.proposal != nil {
			n.accepts[from] = true
			n.proceed()
		}
	case Refuse:
		n.promise(m.Ballot)
		n.proceed()
	}
}

// promise takes note of a ballot: nothing older counts.
func (n *Node) promise(ballot int64) {
	if ballot > n.promised {
		n.promised, n.asked = ballot, false
	}
	if n.leads && n.lead < n.promised {
		n.leads, n.proposal = false, nil
	}
}

// coordinator is the lowest process that is not gone.
func (n *Node) coordinator() int {
	for rank, gone := range n.gone {
		if !gone {
			return rank
		}
	}
	return n.self
}

// next is the first ballot of a process that is newer than all that was heard of.
func (n *Node) next(rank int) int64 {
	ballot := (n.promised+1)/int64(n.size)*int64(n.size) + int64(rank)
	if ballot <= n.promised {
		ballot += int64(n.size)
	}
	return ballot
}

// of is whose a ballot is.
func (n *Node) of(ballot int64) int { return int(ballot % int64(n.size)) }

// proceed does what can be done.
func (n *Node) proceed() {
	if n.own == nil || n.outcome != nil {
		return
	}
	first := n.coordinator()
	switch {
	case first == n.self && !n.leads && n.stands():
		n.begin()
	case first != n.self && (n.promised < 0 || n.gone[n.of(n.promised)]):
		// A first word to the coordinator. It also finds out whether it is there.
		n.promise(n.next(first))
		n.asked = true
	}
	n.vote()
	n.propose()
	n.conclude()
}

// stands reports whether nobody else coordinates.
func (n *Node) stands() bool {
	return n.promised < 0 || n.of(n.promised) == n.self || n.gone[n.of(n.promised)]
}

// begin begins to coordinate.
func (n *Node) begin() {
	n.lead = n.next(n.self)
	n.promise(n.lead)
	n.leads, n.proposal, n.accepts = true, nil, make(map[int]bool)
	for rank := range n.size {
		if n.takesPart(rank) && n.voteOf(rank) == nil {
			n.send(rank, Message{Kind: Query, Ballot: n.lead})
		}
	}
}

// takesPart reports whether another process is there.
func (n *Node) takesPart(rank int) bool { return rank != n.self && !n.gone[rank] }

// all reports whether every process that is there, but for this one, is so.
func (n *Node) all(so func(rank int) bool) bool {
	for rank := range n.size {
		if n.takesPart(rank) && !so(rank) {
			return false
		}
	}
	return true
}

// vote gives the vote that the coordinator waits for.
func (n *Node) vote() {
	if n.own == nil || !n.asked || n.gone[n.of(n.promised)] {
		return
	}
	n.asked = false
	n.send(n.of(n.promised), n.ballotPaper())
}

func (n *Node) ballotPaper() Message {
	if n.accepted != nil {
		return Message{Kind: Vote, Ballot: n.promised, Accepted: n.ballot, Value: *n.accepted}
	}
	return Message{Kind: Vote, Ballot: n.promised, Accepted: -1, Value: *n.own}
}

// propose makes one value of all votes.
func (n *Node) propose() {
	if !n.leads || n.proposal != nil || !n.all(func(rank int) bool { return n.voteOf(rank) != nil }) {
		return
	}
	own := n.ballotPaper()
	newest, sum := own, *n.own
	sum.Odd, sum.Gone, sum.Known = -1, n.own.Gone.clone(), n.own.Known.clone()
	for rank := range n.size {
		if n.gone[rank] {
			sum.Gone.Add(rank)
			continue
		}
		v := n.voteOf(rank)
		if v == nil {
			continue // this process
		}
		if v.Accepted > newest.Accepted {
			newest = *v
		}
		sum.Flags &= v.Value.Flags
		sum.Gone.join(v.Value.Gone)
		sum.Known.meet(v.Value.Known)
		if v.Value.Kind != sum.Kind && sum.Odd < 0 {
			sum.Odd = int32(rank)
		}
	}
	if newest.Accepted >= 0 {
		sum = newest.Value
	} else {
		sum.ID = n.id(sum.Kind)
	}
	n.proposal, n.accepted, n.ballot = &sum, &sum, n.lead
	n.tellAll(Message{Kind: Propose, Ballot: n.lead, Value: sum})
}

// voteOf is the vote that a process has given in this round.
func (n *Node) voteOf(rank int) *Message {
	if v, has := n.votes[rank]; has && v.Ballot == n.lead {
		return &v
	}
	return nil
}

// conclude decides when all have accepted.
func (n *Node) conclude() {
	if n.leads && n.proposal != nil && n.outcome == nil && n.all(func(rank int) bool { return n.accepts[rank] }) {
		n.decide(*n.proposal)
	}
}

func (n *Node) tellAll(m Message) {
	for rank := range n.size {
		if n.takesPart(rank) {
			n.send(rank, m)
		}
	}
}

func (n *Node) decide(v Value) {
	n.outcome = &v
	for rank := range n.size {
		if n.takesPart(rank) && n.waits(rank) {
			n.send(rank, Message{Kind: Decide, Value: v})
		}
	}
	n.votes, n.accepts, n.proposal = nil, nil, nil // who asks now hears of the outcome
	n.decided(v)
}

// waits reports whether a process may wait for what this one says, although that has heard of the decision from another one: those of its round
// do, and who has given it a vote as the next coordinator, or was refused.
func (n *Node) waits(rank int) bool {
	_, voted := n.votes[rank]
	return n.leads || voted || n.owed[rank]
}

// Compare puts values in an order: equal ones are the same decision.
func Compare(a, b Value) int {
	return cmp.Or(cmp.Compare(a.Flags, b.Flags), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Odd, b.Odd),
		cmp.Compare(string(a.Gone), string(b.Gone)), cmp.Compare(string(a.Known), string(b.Known)))
}
