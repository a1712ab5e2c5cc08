package pml

import (
	"github.com/strandmp/strand/internal/trace"
	"github.com/strandmp/strand/pml/wire"
)

// What follows records what happens to messages, for strand run --trace. Callers have looked whether
// there is a recorder: without one nothing is done for it but that. Notices, which the program knows nothing of, are left out: they
// have no receive that is started for them.

// tracePosted records the start of a send.
func (op *operation) tracePosted() {
	if op.context.id == noticeContext {
		return
	}
	op.pml.trace.Record(trace.Event{Kind: trace.SendPosted, Op: op.handle(), Context: op.context.id, Peer: int32(op.peer.rank), Tag: op.tag, Seq: op.seq, Bytes: op.size})
}

// traceReceive records the start of a receive.
func (op *operation) traceReceive() {
	op.pml.trace.Record(trace.Event{Kind: trace.ReceivePosted, Op: op.handle(), Context: op.context.id, Peer: op.recv.Source, Tag: op.recv.Tag, Bytes: op.size})
}

// traceMatched records that a receive has found its message.
func (op *operation) traceMatched(pe *peer, tag int32, seq uint32) {
	if op.context.id == noticeContext {
		return
	}
	op.pml.trace.Record(trace.Event{Kind: trace.ReceiveMatched, Op: op.handle(), Context: op.context.id, Peer: int32(pe.rank), Tag: tag, Seq: seq, Bytes: op.total})
}

// traceDone records the end of an operation.
func (op *operation) traceDone() {
	e := trace.Event{Kind: trace.ReceiveDone, Op: op.handle(), Failed: op.err != nil}
	switch {
	case op.other:
		return
	case op.isSend:
		e.Kind = trace.SendDone
	}
	op.pml.trace.Record(e)
}

// traceShort records a send that is complete as it begins.
func (c *Context) traceShort(pe *peer, f *txFrame, r *rail, tag int32, seq uint32) {
	if c.id != noticeContext {
		c.pml.trace.Record(trace.Event{Kind: trace.SendShort, Context: c.id, Peer: int32(pe.rank), Tag: tag, Seq: seq, Bytes: uint64(f.Size)})
	}
	pe.traceBegins(f, r, c.id, seq)
}

// traceCleared records that the receiver of a message has a receive for it.
func (op *operation) traceCleared() {
	op.pml.trace.Record(trace.Event{Kind: trace.SendMatched, Op: op.handle()})
}

// traceBegins records over which rail a message begins, or has that done when it is known. It is
// called beside begins.
func (pe *peer) traceBegins(f *txFrame, r *rail, context uint64, seq uint32) {
	if len(pe.rails) == 1 {
		r.traceOver(context, seq)
	}
	f.context, f.seq = context, seq
}

// traceOver records over which rail a message begins.
func (r *rail) traceOver(context uint64, seq uint32) {
	if context == noticeContext {
		return
	}
	t := r.pml.trace
	t.Record(trace.Event{Kind: trace.SendOver, Context: context, Peer: int32(r.peer.rank), Seq: seq, Name: t.Name(r.attr.Name)})
}

// traceUnexpected records a message that has found no receive. One that has found one may be freed already.
func (in *inbound) traceUnexpected(pe *peer, h *wire.Header) {
	if in.peer == nil || in.op != nil || h.Context == noticeContext {
		return
	}
	pe.pml.trace.Record(trace.Event{Kind: trace.Unexpected, Context: h.Context, Peer: int32(pe.rank), Tag: h.Tag, Seq: h.Seq, Bytes: h.Size})
}

// traceWait records that a call waits for so many requests, if there is a recorder. It returns the
// number of the wait for traceWaited.
func (p *PML) traceWait(requests int) uint64 {
	if p.trace == nil {
		return 0
	}
	return p.trace.Begin(trace.Event{Kind: trace.WaitBegun, Bytes: uint64(requests)})
}

func (p *PML) traceWaited(wait uint64, err error) {
	if wait != 0 {
		p.trace.Record(trace.Event{Kind: trace.WaitOver, Op: wait, Failed: err != nil})
	}
}

// Trace is the recorder that the PML was opened with, or nil.
func (p *PML) Trace() *trace.Recorder { return p.trace }

// ID is the context's own.
func (c *Context) ID() uint64 { return c.id }
