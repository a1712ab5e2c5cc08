package pml

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
)

// Sometimes only one of two processes can connect to the other one. That one may not know
// that it should, since it waits for a message from anybody. So a process that can not
// connect appeals to the other one through the launcher, if the launcher passes appeals
// on.

// appeal has the peer asked to connect to us, off the engine's lock.
func (pe *peer) appeal() {
	p, rank := pe.pml, pe.rank
	if p.over || pe.self() {
		return
	}
	p.host.Logf(btl.LogInfo, "rank %d: asking rank %d, which can not be connected, to connect to us", p.rank, rank)
	p.background.Add(1)
	go func() {
		defer p.background.Done()
		if err := p.appeal(rank); err != nil {
			p.host.Logf(btl.LogInfo, "rank %d: rank %d was not asked: %v", p.rank, rank, err)
		}
	}()
}

// firstFailure is why a peer could not be reached for the first time. One that refuses
// wherever it is tried has probably ended, and could not be asked for anything.
func (pe *peer) firstFailure() error {
	for _, r := range pe.rails {
		if pe.pml.appeal != nil || !errors.Is(r.way.Cause, syscall.ECONNREFUSED) {
			return errors.Join(pe.causes(), pe.appealOutcome())
		}
	}
	return pe.gone()
}

// errNoAppeal is why a peer that could perhaps have connected to us did not.
var errNoAppeal = errors.New("nor could it be asked to connect to this process, since the launcher passes nothing on between ranks: " +
	"start the job by strand run, or have a receive there name this rank")

// appealOutcome says what came of asking the peer.
func (pe *peer) appealOutcome() error {
	if pe.pml.appeal == nil {
		return errNoAppeal
	}
	return fmt.Errorf("nor did it connect to this process in the %v after it was asked to through the launcher", rails.AppealTime)
}

// Appealed notes that another process of the world can not connect to this one and asks
// it to connect. Any goroutine may call it.
func (p *PML) Appealed(by int) {
	if by < 0 || by >= p.job.Size() || by == p.rank {
		return
	}
	p.engine.Post(func() {
		pe := p.peerOf(by)
		if p.closing || pe.failure != nil {
			return
		}
		p.host.Logf(btl.LogInfo, "rank %d: rank %d asks to be connected to", p.rank, by)
		pe.connect()
		for _, r := range pe.rails {
			if r.up() && !r.busy {
				r.ask() // the peer knows nothing of it: this will show
			}
		}
	})
}
