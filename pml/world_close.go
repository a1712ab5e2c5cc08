package pml

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/given"
	timers "github.com/strandmp/strand/internal/overdue"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// closer is the condition that Close waits for: first that every frame is
// acknowledged, then that every peer has answered our goodbye.
type closer struct {
	pml    *PML
	phase  closePhase
	waiter *engine.Waiter
	late   bool // the time is up
}

type closePhase uint8

const (
	draining closePhase = iota
	parting
)

// Done implements [engine.Condition].
func (c *closer) Done() bool { return c.late || c.finished() }

// finished reports whether nobody is waited for in this phase. That may have come true in the poll in which the time was over.
func (c *closer) finished() bool {
	for _, pe := range c.pml.peers {
		if c.awaits(pe) {
			return false
		}
	}
	return true
}

// awaits reports whether Close waits for the peer.
func (c *closer) awaits(pe *peer) bool {
	if pe.ways.Stage != rails.Known && pe.ways.Stage != rails.Resolving {
		return false
	}
	return c.phase == draining && !pe.drained() || c.phase == parting && !pe.parted()
}

// Park implements [engine.Condition].
func (c *closer) Park(w *engine.Waiter) { c.waiter = w }

// drained reports whether nothing is left to be sent or acknowledged, and every message that
// has matched has arrived: its sender would give it up when it hears that we leave. So would the sender of
// what has arrived beyond a gap, which a goodbye can not acknowledge: a frame before it is still on its way
// over a slower connection, as what was sent for a receive that has given up since. What this
// process has sent to itself does not count: nobody will receive it.
func (pe *peer) drained() bool {
	return pe.taking == 0 && (pe.self() || pe.sends == 0 && len(pe.received.Beyond()) == 0 && pe.backlog.Len() == 0 && pe.express.frames.Len() == 0 && pe.sent.Empty() && (!pe.local || !pe.holding()))
}

// holding reports whether a transport has frames to the peer that it has not
// released; if their release confirms delivery, the peer has not got them.
func (pe *peer) holding() bool {
	for r := range pe.everyRail {
		if r.line.Newest() != nil {
			return true
		}
	}
	return false
}

// self reports whether the peer is this process.
func (pe *peer) self() bool { return pe.rank == pe.pml.rank }

// parted reports whether the peer knows that we are leaving, or has never heard of us. A peer
// that does not know it, because a connection broke, may still wait for an acknowledgement.
func (pe *peer) parted() bool {
	return pe.self() || !pe.ways.Met || pe.goodbye.answered
}

// checkClosing has Close look again.
func (p *PML) checkClosing() {
	if p.closer != nil && p.closer.waiter != nil && p.closer.Done() {
		p.engine.Wake(p.closer.waiter)
	}
}

// Close ends the message layer in order: no new operation is taken, what was
// sent is delivered, what has matched is received, the peers are told goodbye. Receives that have no message
// end with ErrClosed. It waits at most pml_close_timeout; that some peer did not
// answer in that time is an error, but everything is closed all the same.
func (p *PML) Close(ctx context.Context) error {
	given.Context(ctx)
	p.engine.Lock()
	if p.closing {
		p.engine.Unlock()
		return ErrClosed
	}
	p.catchUp()
	p.closing = true
	p.shut.Store(true)
	p.eachOperation(func(op *operation) {
		if !op.isSend && op.recv.Posted() {
			op.abandon(ErrClosed)
		}
	})
	for _, c := range p.contexts {
		c.discard() // who waits for us to receive need not wait
	}
	p.refuseTaken()
	p.wakeProbers()
	err := p.part(ctx)
	err = errors.Join(err, p.closeModules()) // from here on no transport has anybody's memory
	p.eachOperation((*operation).close)
	p.over = true
	p.engine.Unlock()
	p.cancel()
	p.background.Wait()
	p.engine.Close()
	return err
}

// close ends an operation that is left when the world is closed. If the peer of a send had left
// before, and only a transport held the send up, it ends with the peer's error.
func (op *operation) close() {
	if op.isSend && op.peer.failure != nil {
		op.complete(op.peer.failure)
		return
	}
	op.abandon(ErrClosed)
}

// part drains the sends and exchanges goodbyes. The lock is held.
func (p *PML) part(ctx context.Context) error {
	p.closer = &closer{pml: p}
	// A process that was stopped meanwhile, or had no processor, looks first at what has come.
	timer := timers.After(p.engine, p.tune.closeTimeout, func() {
		p.closer.late = true
		if p.closer.waiter != nil {
			p.engine.Wake(p.closer.waiter)
		}
	})
	defer timer.Stop()
	p.reconsider()
	p.askForAcks()
	if err := p.engine.Wait(ctx, p.closer, p.recent); err != nil {
		return err
	}
	if p.closer.late && !p.closer.finished() {
		return fmt.Errorf("rank %d: closing: %s", p.rank, p.unfinished())
	}
	p.closer.phase = parting
	p.reconsider()
	for _, pe := range p.peers {
		pe.sayGoodbye()
	}
	if err := p.engine.Wait(ctx, p.closer, p.recent); err != nil {
		return err
	}
	if p.closer.late && !p.closer.finished() {
		return fmt.Errorf("rank %d: closing: %s", p.rank, p.unanswered())
	}
	return nil
}

// reconsider asks what is to be done about each peer. What was no reason to give a peer up may
// be one now that this process leaves, and perhaps no other event follows that would ask.
func (p *PML) reconsider() {
	for _, pe := range p.peers {
		pe.proceed()
	}
}

// sayGoodbye tells a connected peer that we leave, if it is time and a rail takes it. The
// goodbye is said again when its connection breaks. Its rail is watched until the peer has
// answered (rail_liveness.go).
func (pe *peer) sayGoodbye() {
	if !pe.goodbyeIsDue() {
		return
	}
	g, r := &pe.goodbye, pe.readyRail()
	if r == nil {
		return
	}
	f := pe.pml.newFrame(pe)
	f.build(&wire.Header{Kind: wire.Goodbye})
	if !r.transmit(f) {
		pe.pml.freeFrame(f)
		return
	}
	g.said, g.over, g.at = true, r, pe.pml.engine.Now()
}

// goodbyeIsDue reports whether the peer is to be told that we leave, and no rail has taken
// that.
func (pe *peer) goodbyeIsDue() bool {
	return pe.pml.parting() && pe.ways.Stage == rails.Known && !pe.self() && !pe.goodbye.said
}

// parting reports whether all is sent, and peers are to be told that we leave.
func (p *PML) parting() bool { return p.closer != nil && p.closer.phase == parting }

// ackInterval is how often peers are asked for their acknowledgements: the question,
// or the answer, may be lost with a connection.
const ackInterval = 100 * time.Millisecond

// askForAcks has the peers acknowledge what they have: short messages were sent
// with no hurry about that.
func (p *PML) askForAcks() {
	if p.closer.phase != draining || p.closer.late {
		return
	}
	for _, pe := range p.peers {
		if pe.ways.Stage == rails.Known && pe.up() && !pe.sent.Empty() {
			pe.sendControl(&wire.Header{Kind: wire.Ack, Flags: wire.FlagAckNow})
		}
	}
	p.engine.After(ackInterval, p.askForAcks)
}

// unfinished says what is still under way, for people.
func (p *PML) unfinished() string {
	for _, pe := range p.peers {
		if pe.failure != nil || pe.drained() {
			continue
		}
		if pe.taking > 0 && pe.sends == 0 {
			return fmt.Sprintf("rank %d%s has not sent all of what receives have matched within pml_close_timeout (%v); "+
				"%d receives are not complete", pe.rank, onHost(pe.host), p.tune.closeTimeout, pe.taking)
		}
		left := fmt.Sprintf("%d sends are not complete", pe.sends)
		if pe.sends == 0 {
			left = fmt.Sprintf("%d frames are not acknowledged", pe.sent.Outstanding())
		}
		return fmt.Sprintf("rank %d%s has not taken everything that was sent to it within pml_close_timeout (%v); %s",
			pe.rank, onHost(pe.host), p.tune.closeTimeout, left)
	}
	return fmt.Sprintf("pml_close_timeout (%v) is over", p.tune.closeTimeout)
}

// unanswered says who has not answered our goodbye, for people.
func (p *PML) unanswered() string {
	for _, pe := range p.peers {
		if pe.ways.Stage == rails.Known && !pe.parted() {
			return fmt.Sprintf("rank %d%s has not answered the goodbye within pml_close_timeout (%v)",
				pe.rank, onHost(pe.host), p.tune.closeTimeout)
		}
	}
	return fmt.Sprintf("pml_close_timeout (%v) is over", p.tune.closeTimeout)
}

// saidGoodbye reacts to a peer that leaves, or has heard that we do.
func (pe *peer) saidGoodbye(kind wire.Kind) {
	if kind == wire.GoodbyeAck {
		pe.goodbye.answered = true
		pe.pml.checkClosing()
		return
	}
	pe.goodbye.answered = true
	pe.goodbye.owed = true
	pe.answerGoodbye()
	pe.pml.host.Logf(btl.LogDebug, "rank %d: rank %d says goodbye", pe.pml.rank, pe.rank)
	pe.fail(rails.Closed, &peerClosedError{rank: pe.rank, host: pe.host})
}

// answerGoodbye tells a peer that leaves that its goodbye was understood, as
// soon as the rail takes it: the one that it came by, which is alive.
func (pe *peer) answerGoodbye() {
	r := pe.heard
	if r == nil || !r.up() || r.busy {
		r = pe.readyRail()
	}
	if !pe.goodbye.owed || r == nil {
		return
	}
	f := pe.pml.newFrame(pe)
	f.build(&wire.Header{Kind: wire.GoodbyeAck})
	if r.transmit(f) {
		pe.goodbye.owed = false
		return
	}
	pe.pml.freeFrame(f)
}

func (p *PML) closeModules() error {
	p.engine.ClearProgressors()
	var errs []error
	for _, m := range p.modules {
		if err := m.module.Close(); err != nil {
			errs = append(errs, fmt.Errorf("rank %d: closing %s: %w", p.rank, m.module.Attr().Name, err))
		}
	}
	p.modules = nil
	return errors.Join(errs...)
}
