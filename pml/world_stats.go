package pml

import (
	"cmp"
	"slices"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/whowaits"
	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/rails"
)

// Stats counts what tests and reports want to know of a world.
type Stats struct {
	Held       uint64 // messages held back for a receive of any tag
	Released   uint64 // held messages freed because that receive was gone
	Overtaken  uint64 // messages received while an older one was still missing
	Unexpected uint64 // messages that found no receive when they became ready
	Demoted    uint64 // messages not sent at once for want of credit
	Truncated  uint64 // messages longer than their receive
	Rescued    uint64 // frames half sent to a peer that left, whose rest was copied
	Replayed   uint64 // frames sent again because their rail had broken
	Cut        uint64 // frames sent in parts, since the rail that is left takes no longer ones
}

// Stats returns the counts since the world was opened.
func (p *PML) Stats() Stats {
	p.engine.Lock()
	defer p.engine.Unlock()
	s := p.stats
	for _, c := range p.contexts {
		s.add(&c.match.Stats)
	}
	return s
}

// add counts what a context has counted.
func (s *Stats) add(of *match.Stats) {
	s.Held += of.Held
	s.Released += of.Released
	s.Overtaken += of.Overtaken
	s.Unexpected += of.Unexpected
}

// A Report is how things stand with one process.
type Report struct {
	Stats Stats
	Rails []RailReport
	Waits *whowaits.Report `json:",omitempty"`
}

// RailReport describes one rail to a peer.
type RailReport struct {
	Peer      int
	Host      string
	Module    string
	Desc      string
	Up        bool
	State     string // CLOSED, CONNECTING, CONNECT_ACK, CONNECTED, FAILED
	Cause     string // of the last break, if it has not come back since
	Traffic   Traffic
	Counters  btl.Counters // zero if the transport does not count
	Component string
	// Congestion is nil if the transport does not tell, or is not connected.
	Congestion *btl.Congestion `json:",omitempty"`
	// Paths of the network that the connection uses, where the transport tells: those of
	// an association of SCTP.
	Paths []btl.PathState `json:",omitempty"`
}

// Rails describes every rail to every peer that there was contact with, in the
// order of their ranks.
func (p *PML) Rails() []RailReport {
	p.engine.Lock()
	defer p.engine.Unlock()
	var all []RailReport
	for _, pe := range p.peers {
		for r := range pe.everyRail {
			told := r.report()
			rep := RailReport{Peer: pe.rank, Host: pe.host, Module: r.attr.Name, Desc: r.endpoint.Desc(),
				Up: r.up(), State: r.state(told.State), Traffic: r.traffic, Component: p.componentOf(r.module)}
			if told.Counters != nil {
				rep.Counters = *told.Counters
			}
			if r.way.Aside {
				rep.Desc += ", for urgent messages"
			}
			rep.Congestion, rep.Paths = told.Congestion, told.Paths
			if !r.up() && r.way.Cause != nil {
				rep.Cause = r.way.Cause.Error()
			}
			all = append(all, rep)
		}
	}
	slices.SortStableFunc(all, func(a, b RailReport) int { return cmp.Compare(a.Peer, b.Peer) })
	return all
}

// report is what the endpoint tells of itself; nothing if it tells nothing.
func (r *rail) report() btl.Report {
	if reporter, tells := r.endpoint.(btl.Reporter); tells {
		return reporter.Report()
	}
	return btl.Report{}
}

// state says how far the connection has come; where the transport has told nothing, as far
// as the message layer can see.
func (r *rail) state(told string) string {
	switch {
	case r.up():
		return "CONNECTED"
	case r.broken():
		return "FAILED"
	case told != "":
		return told
	case r.way.State == rails.Connecting:
		return "CONNECTING"
	}
	return "CLOSED"
}

// Reasons says why each peer that there was contact with is served as it is.
func (p *PML) Reasons() map[int][]string {
	p.engine.Lock()
	defer p.engine.Unlock()
	all := make(map[int][]string)
	for rank, pe := range p.peers {
		all[rank] = pe.choice.Reasons
	}
	return all
}
