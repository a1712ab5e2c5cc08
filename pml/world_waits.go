package pml

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
	"unsafe"

	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/whowaits"
	"github.com/strandmp/strand/pml/match"
)

// Waits describes what operations and calls wait for. It is for who asks why the job does not
// go on. It looks through all operations, and has all goroutines stand still for a moment.
func (p *PML) Waits() *whowaits.Report {
	w := waits{comms: make(map[uint64]int), first: make(map[line]bool), last: make(map[line]whowaits.Message)}
	stacks := whowaits.Stacks()
	w.calls, w.Elsewhere = whowaits.Calls(stacks, uintptr(unsafe.Pointer(p.engine))), whowaits.Elsewhere(stacks)
	w.used = make([]bool, len(w.calls))
	p.engine.Lock()
	defer p.engine.Unlock()
	w.deadlines = p.deadlines()
	for _, c := range p.contexts {
		w.describe(c)
	}
	for in := p.taken; in != nil; in = in.next {
		m := in.reported(in.context)
		m.Taken = true
		w.message(m)
	}
	w.lastMessages()
	p.eachOperation(w.add)
	for _, a := range p.probing {
		w.wait(whowaits.Wait{
			ID: 1<<63 | a.number, Kind: whowaits.Probe, State: whowaits.Unmatched, Comm: a.context.id / 2, Collective: a.context.id%2 > 0,
			Peer: int(a.source), Tag: a.tag, Blocked: true, Call: w.callFor(unsafe.Pointer(a)),
			Left: w.left(unsafe.Pointer(a)),
		})
	}
	w.assignRest()
	w.fillUp()
	w.closing(p)
	return &w.Report
}

// waits are a report that is being made.
type waits struct {
	whowaits.Report
	begun []whowaits.Wait // those that no call waits for
	comms map[uint64]int  // where they are in the report
	calls []whowaits.Call
	used  []bool // the operations of these are known

	deadlines map[unsafe.Pointer]time.Time // of contexts, by the operation or probe that is waited for

	first map[line]bool             // a message is told of
	last  map[line]whowaits.Message // of those for which there is no room
}

// A line is the messages of a sender in a context.
type line struct {
	from       int
	comm       uint64
	collective bool
}

// wait adds a wait. Those of calls have their place before all others, since they say why the rank does not go on.
func (w *waits) wait(a whowaits.Wait) {
	switch {
	case !a.Blocked && len(w.begun) < whowaits.Most:
		w.begun = append(w.begun, a)
	case a.Blocked && len(w.Waits) < whowaits.Most:
		w.Waits = append(w.Waits, a)
	default:
		w.Omitted++
		w.Cut = w.Cut || a.Blocked
	}
}

// fillUp adds those that no call waits for, as far as there is room.
func (w *waits) fillUp() {
	n := min(len(w.begun), whowaits.Most-len(w.Waits))
	w.Waits = append(w.Waits, w.begun[:n]...)
	w.Omitted += len(w.begun) - n
}

// message adds a message without a receive. Of each sender the first one is told of in any case, and the last one: mostly that is what
// the sender waits for.
func (w *waits) message(m whowaits.Message) {
	l := line{m.From, m.Comm, m.Collective}
	if w.first[l] && len(w.Unexpected) >= whowaits.Most {
		w.last[l] = m
		w.Omitted++
		return
	}
	w.first[l] = true
	w.Unexpected = append(w.Unexpected, m)
}

// lastMessages adds the last message of each sender of which not all are told.
func (w *waits) lastMessages() {
	inOrder := func(a, b line) int { return cmp.Or(cmp.Compare(a.comm, b.comm), cmp.Compare(a.from, b.from)) }
	for _, l := range slices.SortedFunc(maps.Keys(w.last), inOrder) {
		w.Unexpected = append(w.Unexpected, w.last[l])
		w.Omitted--
	}
}

// reported is what a report tells of a message. The id of a context is twice that of its communicator, or one more where it is
// for collective calls.
func (in *inbound) reported(c *Context) whowaits.Message {
	return whowaits.Message{Comm: c.id / 2, Collective: c.id%2 > 0, From: int(in.Source), Tag: int(in.Tag), Seq: in.Seq, Bytes: in.total}
}

// describe adds a context, and what waits there for a receive. Messages may come before their communicator is made here.
func (w *waits) describe(c *Context) {
	if c.freed || c.id == noticeContext {
		return
	}
	c.match.EachWaiting(func(m *match.Message) {
		a := m.Owner.(*inbound).reported(c)
		a.Unmade = c.group == nil
		w.message(a)
	})
	if c.group == nil {
		return
	}
	id, collective := c.id/2, c.id%2 > 0
	at, known := w.comms[id]
	if !known {
		at = len(w.Comms)
		w.comms[id] = at
		w.Comms = append(w.Comms, whowaits.Comm{ID: id, Members: whowaits.Ranks{First: c.group.first, Size: c.group.size, List: c.group.world}})
	}
	comm := &w.Comms[at]
	pairs := make(map[int]whowaits.Pair)
	for rank, ch := range c.channels {
		pairs[rank] = whowaits.Pair{Peer: rank, Collective: collective, Sent: ch.seq}
	}
	for _, source := range c.match.Sources() {
		p := pairs[int(source)]
		p.Peer, p.Collective, p.Arrived = int(source), collective, c.match.Channel(source).Next()
		pairs[int(source)] = p
	}
	for _, p := range pairs {
		comm.Pairs = append(comm.Pairs, p)
	}
}

// add adds an operation.
func (w *waits) add(op *operation) {
	if op.context == nil || op.context.id == noticeContext || op.lends() && op.blocked == 0 && !op.pml.closing {
		return // the last is a send that is complete for whoever asks
	}
	a := whowaits.Wait{
		ID: op.handle(), Comm: op.context.id / 2, Collective: op.context.id%2 > 0, Bytes: op.size, State: whowaits.Moving,
		Blocked: op.blocked > 0 || op.pml.closing, Peer: whowaits.Any, Tag: whowaits.Any,
	}
	switch {
	case op.other:
		a.Kind, a.State = whowaits.Request, whowaits.Unmatched
	case op.isSend:
		a.Kind, a.State, a.Peer, a.Tag = whowaits.Send, op.stage(), op.peer.rank, int(op.tag)
		a.Seq = op.seq
	case op.recv.Posted():
		a.Kind, a.State, a.Peer, a.Tag = whowaits.Receive, whowaits.Unmatched, int(op.recv.Source), int(op.recv.Tag)
	default:
		a.Kind, a.Tag = whowaits.Receive, op.status.Tag
		if op.peer != nil {
			a.Peer = op.peer.rank
		}
	}
	if a.Blocked {
		a.Left = w.left(unsafe.Pointer(op))
		a.Call = w.callFor(unsafe.Pointer(op))
		for _, s := range op.sets {
			if a.Call == nil {
				a.Call = w.callFor(unsafe.Pointer(s))
			}
		}
	}
	w.wait(a)
}

// deadlines are the times at which calls give up what they wait for, since their contexts end. Of several calls the first one counts.
func (p *PML) deadlines() map[unsafe.Pointer]time.Time {
	all := make(map[unsafe.Pointer]time.Time)
	p.engine.EachWait(func(c engine.Condition, ctx context.Context) {
		at, ends := ctx.Deadline()
		if !ends {
			return
		}
		note := func(what unsafe.Pointer) {
			if earlier, is := all[what]; !is || at.Before(earlier) {
				all[what] = at
			}
		}
		switch c := c.(type) {
		case *lone:
			note(unsafe.Pointer(c))
		case *arrival:
			note(unsafe.Pointer(c))
		case *allOver:
			note(unsafe.Pointer(c.blocks))
		case *oneOver:
			for _, r := range c.reqs {
				if r.op != nil && r.op.gen == r.gen {
					note(unsafe.Pointer(r.op))
				}
			}
		}
	})
	return all
}

// left says how long it is until a call gives up what it waits for. It is empty if no call is known to.
func (w *waits) left(what unsafe.Pointer) string {
	at, ends := w.deadlines[what]
	if !ends {
		return ""
	}
	return max(time.Until(at), 0).Round(time.Second).String()
}

// stage is how far a send has come.
func (op *operation) stage() string {
	switch {
	case op.asked && !op.cleared:
		return whowaits.Unmatched
	case op.asked && op.offset < op.accept:
		return whowaits.Moving
	case op.asked || op.frames > 0 || op.offset > 0:
		return whowaits.Unconfirmed
	}
	return whowaits.Queued
}

// closing adds the ranks that Close waits for.
func (w *waits) closing(p *PML) {
	if p.closer == nil || p.over {
		return
	}
	c := &whowaits.Closing{Goodbye: p.closer.phase == parting}
	for rank, pe := range p.peers {
		if p.closer.awaits(pe) {
			c.Ranks = append(c.Ranks, rank)
		}
	}
	if len(c.Ranks) > 0 {
		slices.Sort(c.Ranks)
		w.Closing = c
	}
}

// callFor returns the call that waits for a condition.
func (w *waits) callFor(condition unsafe.Pointer) *whowaits.Call {
	for i := range w.calls {
		if w.calls[i].Condition == uint64(uintptr(condition)) {
			w.used[i] = true
			return &w.calls[i]
		}
	}
	return nil
}

// assignRest finds the operations of calls that wait for several. There is no way from a call to
// these. So it takes a single one to wait for all that are left.
func (w *waits) assignRest() {
	for i, c := range w.calls {
		if !w.used[i] {
			w.Calls = append(w.Calls, c)
		}
	}
	own := func(c whowaits.Call) bool { return c.Own }
	if len(w.Calls) == 0 || len(w.Calls) > 1 && slices.IndexFunc(w.Calls, func(c whowaits.Call) bool { return !own(c) }) >= 0 {
		return
	}
	rest := w.Calls[0]
	for i := range w.Waits {
		if a := &w.Waits[i]; a.Blocked && a.Call == nil {
			a.Call, w.Calls = &rest, nil
		}
	}
}
