package sctp

import (
	"errors"
	"io"

	"github.com/strandmp/strand/internal/sctp/chunk"
	"github.com/strandmp/strand/internal/sctp/stream"
	"github.com/strandmp/strand/internal/sctp/transfer"
)

// packetState is what is known of the packet that is being read.
type packetState struct {
	data      bool // it has had data
	immediate bool // that is to be acknowledged at once
	other     bool // it has had something else: an answer, perhaps
}

// receive takes a packet of the peer's, or what is left of it.
func (a *Association) receive(in *incoming, path int, chunks chunk.Chunks) {
	a.Received++
	a.packet = packetState{immediate: in.joined} // as several are answered
	if a.sender != nil {
		a.paths[path].tried(in.from)
		a.came(in.now, path)
	}
	for a.state != Closed {
		c, ok := chunks.Next()
		if !ok || !a.take(in, path, c) {
			break
		}
	}
	if a.state == Closed {
		return
	}
	if a.packet.data {
		a.sackPath = path
		a.stir(in.now)
		a.receiver.Packet(in.now, path, a.packet.immediate)
		if a.state == ShutdownSent { // section 9.2
			a.due = true
		}
	}
	if a.packet.other {
		a.watch(in.now)
	}
	a.proceed(in.now)
}

// take takes a chunk. On says that further ones are to be looked at.
func (a *Association) take(in *incoming, path int, c chunk.Chunk) (on bool) {
	if c.Type == chunk.TypeData || c.Type == chunk.TypeInterleaved {
		return a.takeData(path, c)
	}
	a.packet.other = true
	switch c.Type {
	case chunk.TypeSACK:
		a.takeSACK(in.now, c)
	case chunk.TypeHeartbeat:
		a.asked(in, path, c)
	case chunk.TypeHeartbeatAck:
		a.answered(in, c)
	case chunk.TypeInitAck:
		a.promised(in, c)
		return false
	case chunk.TypeCookieAck:
		a.agreed(in.now)
	case chunk.TypeError:
		a.told(in.now, c)
	case chunk.TypeAbort:
		if c.Flags&chunk.FlagTag == 0 || in.header.Tag == a.peerTag {
			a.aborted(c)
		}
		return false
	case chunk.TypeShutdown, chunk.TypeShutdownAck, chunk.TypeShutdownComplete:
		return a.ending(in, path, c)
	case chunk.TypeInit, chunk.TypeCookieEcho: // neither can be anything but the first
		return false
	case chunk.TypePad:
	default:
		on, report := c.Type.Skip()
		if report {
			a.complain(path, chunk.CauseUnrecognizedChunk, c.Raw)
		}
		return on
	}
	return true
}

// carries reports whether data of the peer's can come.
func (a *Association) carries() bool {
	return a.state == Established || a.state == ShutdownPending || a.state == ShutdownSent
}

// takeData takes a DATA or I-DATA chunk.
func (a *Association) takeData(path int, c chunk.Chunk) (on bool) {
	if !a.carries() {
		return true
	}
	d, err := chunk.ParseData(c)
	switch {
	case err != nil:
		a.violated(chunk.CauseViolation, nil, err.Error())
		return false
	case d.Interleaved != a.interleave: // RFC 8260, section 2.2.1
		a.violated(chunk.CauseViolation, nil, c.Type.String()+" where the other kind was agreed on")
		return false
	}
	a.packet.data = true
	a.packet.immediate = a.packet.immediate || d.Flags&chunk.FlagImmediate != 0
	if a.receiver.Check(d.TSN) != transfer.Fresh {
		return true
	}
	taken, err := a.in.Add(&d, a.receiver.Next(d.TSN))
	if a.state == Closed {
		return false
	}
	if taken {
		a.receiver.Add(d.TSN)
	}
	return err == nil || a.bears(path, err)
}

// bears takes what is wrong with data, and reports whether the association bears it.
func (a *Association) bears(path int, err error) bool {
	var v *stream.Violation
	if errors.As(err, &v) && !v.Fatal {
		a.complain(path, v.Cause, v.Info)
		return true
	}
	r := refusal{cause: chunk.CauseViolation}
	if v != nil {
		r = refusal{v.Cause, v.Info}
	}
	a.violated(r.cause, r.info, err.Error())
	return false
}

// takeSACK takes an acknowledgement.
func (a *Association) takeSACK(now int64, c chunk.Chunk) {
	if a.sender == nil || a.state == ShutdownAckSent {
		return
	}
	s, err := chunk.ParseSACK(c)
	if err == nil {
		err = a.sender.Acknowledge(now, &s)
	}
	if err != nil {
		a.violated(chunk.CauseViolation, nil, err.Error())
		return
	}
	a.confirm()
}

// confirm tells the owner which messages have arrived.
func (a *Association) confirm() {
	for a.state != Closed {
		m := a.sender.Confirmed()
		if m == nil {
			return
		}
		a.pushed -= m.Size
		a.owner.Confirmed(m)
	}
}

// mostEcho bounds what is sent back of HEARTBEATs.
const mostEcho = 1024

// asked takes a HEARTBEAT. Another one may come before it is answered, as of a peer that asks whether the path is good, and how long packets may
// be, at the same time: both are answered, together.
func (a *Association) asked(in *incoming, path int, c chunk.Chunk) {
	p := &a.paths[path]
	if a.state == CookieWait || len(c.Value) == 0 || len(c.Value) > mostEcho {
		return
	}
	if p.answerTo != in.from || len(p.answer)+len(c.Raw) > mostEcho {
		p.answer = p.answer[:0]
	}
	p.answer, p.answerTo = chunk.Append(p.answer, chunk.TypeHeartbeatAck, 0, c.Value), in.from
}

// told takes an ERROR.
func (a *Association) told(now int64, c chunk.Chunk) {
	causes := chunk.Causes(c)
	for f, ok := causes.Next(); ok && a.state != Closed; f, ok = causes.Next() {
		switch by, _ := f.Number(); f.Code {
		case chunk.CauseStaleCookie:
			a.expired(now, by)
		case chunk.CauseShuttingDown:
			if a.state == CookieEchoed {
				a.end(&AbortError{Peer: true, Cause: f.Code})
			}
		}
	}
}

// complain has the peer be told of an error, of one for each packet.
func (a *Association) complain(path int, cause uint16, info []byte) {
	p := &a.paths[path]
	if len(p.report) == 0 {
		p.report = chunk.AppendField(p.report, cause, info[:min(len(info), mostInfo)])
	}
}

// aborted takes an ABORT. One that says that there is no association is as good as the SHUTDOWN COMPLETE that was lost: it answers a
// heartbeat, say.
func (a *Association) aborted(c chunk.Chunk) {
	if a.state == ShutdownAckSent && c.Flags&chunk.FlagTag != 0 {
		a.end(io.EOF)
		return
	}
	e := AbortError{Peer: true, Begun: a.sender != nil}
	causes := chunk.Causes(c)
	if f, ok := causes.Next(); ok {
		e.Cause = f.Code
		if f.Code == chunk.CauseUser || f.Code == chunk.CauseViolation {
			e.Info = string(f.Value[:min(len(f.Value), mostInfo)])
		}
	}
	a.end(&e)
}

// ending takes a chunk that ends the association in order (section 9.2).
func (a *Association) ending(in *incoming, path int, c chunk.Chunk) (on bool) {
	switch c.Type {
	case chunk.TypeShutdown:
		return a.shutDown(in.now, path, c)
	case chunk.TypeShutdownAck:
		switch a.state {
		case ShutdownSent, ShutdownAckSent:
			a.final = chunk.TypeShutdownComplete
			a.end(io.EOF)
			return false
		case CookieWait, CookieEchoed: // section 8.5.1, E: it has our tag, and is of no use all the same
			return false
		}
	case chunk.TypeShutdownComplete:
		if a.state == ShutdownAckSent && (c.Flags&chunk.FlagTag == 0 || in.header.Tag == a.peerTag) {
			a.end(io.EOF)
		}
		return false
	}
	return true
}

// shutDown takes a SHUTDOWN.
func (a *Association) shutDown(now int64, path int, c chunk.Chunk) (on bool) {
	if a.sender == nil {
		return true
	}
	cumulative, err := chunk.ParseNumber(c)
	if err == nil {
		err = a.sender.AcknowledgeUpTo(now, cumulative)
	}
	if err != nil {
		a.violated(chunk.CauseViolation, nil, err.Error())
		return false
	}
	a.confirm()
	switch a.state {
	case Established, ShutdownPending:
		a.enter(now, ShutdownReceived)
	case ShutdownSent:
		a.enter(now, ShutdownAckSent)
	case ShutdownAckSent:
		a.due, a.back, a.answers = true, path, true
	}
	return a.state != Closed
}

// proceed goes on with a shutdown, once all data has arrived.
func (a *Association) proceed(now int64) {
	if a.sender == nil || !a.sender.Idle() {
		return
	}
	switch a.state {
	case ShutdownPending:
		a.enter(now, ShutdownSent)
	case ShutdownReceived:
		a.enter(now, ShutdownAckSent)
	}
}
