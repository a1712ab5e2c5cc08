package strand

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/whowaits"
	"github.com/strandmp/strand/pml"
)

// Stats counts what has happened to messages since the world was opened.
type Stats struct {
	Held       uint64 // messages that waited for an older one, because their receive names any tag
	Released   uint64 // of these, those whose receive was gone before the older one came
	Overtaken  uint64 // messages received while an older one was still missing
	Unexpected uint64 // messages that found no posted receive
	Demoted    uint64 // messages not sent at once, for want of credit
	Truncated  uint64 // messages longer than their receive's buffer
	Rescued    uint64 // frames half sent to a peer that left, whose rest was copied
	Replayed   uint64 // frames sent again because their rail broke
	Cut        uint64 // frames sent in parts, since the remaining rail takes no longer ones
}

// Stats returns the counts as of now.
func (w *World) Stats() Stats { return Stats(w.pml.Stats()) }

// Traffic is what a rail has carried. A long message that went over several rails counts for
// the one that carried its beginning; its bytes count likewise.
type Traffic struct {
	Sent, Received           uint64 // messages
	BytesSent, BytesReceived uint64
}

// A RailReport describes one rail: a connection to a peer over one path of one transport.
type RailReport struct {
	Peer     int    // the peer's rank in the world
	Host     string // the peer's
	Module   string // of the transport that connects, as "tcp"
	Desc     string // the path: addresses and interfaces
	Up       bool   // the rail is connected
	State    string // CLOSED, CONNECTING, CONNECT_ACK, CONNECTED or FAILED
	Cause    string // why the rail broke, if it has not come back since
	Traffic  Traffic
	Counters btl.Counters // what the transport has counted; zero if it does not count
	// Component is the kind of transport.
	Component string
	// Congestion is nil if the transport does not report it, or is not connected.
	Congestion *btl.Congestion `json:",omitempty"`
	// Paths are those of the network that a multi-homed connection uses, as an association of
	// SCTP; nil if the transport does not report them.
	Paths []btl.PathState `json:",omitempty"`
}

// Rails describes every rail to every peer that there was contact with, in the order of the
// peers' ranks.
func (w *World) Rails() []RailReport {
	rails := w.pml.Rails()
	all := make([]RailReport, len(rails))
	for i, r := range rails {
		all[i] = railReport(r)
	}
	return all
}

func railReport(r pml.RailReport) RailReport {
	return RailReport{
		Peer: r.Peer, Host: r.Host, Module: r.Module, Desc: r.Desc, Up: r.Up, State: r.State, Cause: r.Cause,
		Traffic: Traffic(r.Traffic), Counters: r.Counters, Component: r.Component, Congestion: r.Congestion, Paths: r.Paths,
	}
}

// Reasons says in sentences, for each peer that there was contact with by its rank in the
// world, why it is served by the transports that serve it.
func (w *World) Reasons() map[int][]string { return w.pml.Reasons() }

// report is how things stand with this process, for the launcher.
func (w *World) report() any {
	return pml.Report{Stats: w.pml.Stats(), Rails: w.pml.Rails(), Waits: w.waits()}
}

// waits describes what this process waits for, and its collective calls.
func (w *World) waits() *whowaits.Report {
	r := w.pml.Waits()
	w.pml.Locked(func() {
		for i := range r.Comms {
			if c := w.offices.comms[r.Comms[i].ID]; c != nil {
				r.Comms[i].In, r.Comms[i].Number = c.turn.standing()
			}
		}
	})
	return r
}
