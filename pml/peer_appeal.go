package pml

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
)

// Where only one of two processes can connect, it may be the one that does not know
// that it should: it waits for a message from anybody. So who can not connect has the
// other one asked to, through the launcher, if that passes such a thing on.

// call has the peer asked to connect to us, off the engine's lock.
func (pe *peer) call() {
	p, rank := pe.pml, pe.rank
	if p.over || pe.self() {
		return
	}
	p.host.Logf(btl.LogInfo, "rank %d: asking rank %d, which can not be connected, to connect to us", p.rank, rank)
	p.background.Add(1)
	go func() {
		defer p.background.Done()
		if err := p.call(rank); err != nil {
			p.host.Logf(btl.LogInfo, "rank %d: rank %d was not asked: %v", p.rank, rank, err)
		}
	}()
}

// untaught is why a peer could not be reached for the first time. One that refuses
// wherever it is tried has probably ended, and could not be asked for anything.
func (pe *peer) untaught() error {
	for _, r := range pe.rails {
		if pe.pml.call != nil || !errors.Is(r.way.Cause, syscall.ECONNREFUSED) {
			return errors.Join(pe.causes(), pe.uncalled())
		}
	}
	return pe.gone()
}

// errUncalled is why a peer that could perhaps have connected to us did not.
var errUncalled = errors.New("nor could it be asked to connect to this process, since the launcher passes nothing on between ranks: " +
	"start the job by strand run, or have a receive there name this rank")

// uncalled says what came of asking the peer.
func (pe *peer) uncalled() error {
	if pe.pml.call == nil {
		return errUncalled
	}
	return fmt.Errorf("nor did it connect to this process in the %v after it was asked to through the launcher", rails.AppealTime)
}

// Called notes that another process of the world can not connect to this one and asks
// it to connect. Any goroutine may call it.
func (p *PML) Called(by int) {
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
