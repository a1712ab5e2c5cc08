package pml

import "context"

// Drop ends the process's part in the world without a goodbye, as its death would: peers
// find that it has failed, and do not take it for one that has left in order. What is under way
// is lost. Operations end with ErrClosed, and so does everything after it.
func (p *PML) Drop() {
	p.engine.Lock()
	if !p.closing {
		for _, pe := range p.peers {
			if !pe.self() {
				pe.giveUp()
			}
		}
	}
	p.engine.Unlock()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Close(over) // its error is that over has ended
}
