package compare

import (
	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/launcher/job"
)

// Emulations are the names, as [Emulate] takes them, of those who can emulate networks. The
// default comes first.
var Emulations = []string{"auto", "netem", "user"}

// A Ground is where runs can take place.
type Ground interface {
	// Links says what carries the frames there.
	Links() results.Links
	// Offer returns what a run of a workload gets if it asks for a link: the link, or nil for
	// a network as it is. The text says why the run can not be, or is "".
	Offer(workload string, l emulate.Link) (got *emulate.Link, unable string)
	// Facts are what all variants find there, by the names of package results.
	Facts(mtu int) map[string]string
	// Open makes a place for one run.
	Open(Conditions) (Site, error)
}

// Conditions are what a run is to find.
type Conditions struct {
	Ranks int
	Link  emulate.Link
	// Networks are several between the ranks' hosts; nil: one, with the link.
	Networks []emulate.Network
	MTU      int
	Seed     uint64
}

// A Site is the place of one run: where its ranks are.
type Site interface {
	// Place says in a job's configuration where its ranks are; without a word they are here.
	Place(*job.Config)
	// Close takes the site down and says what has happened to frames, nil if nobody
	// has counted them.
	Close() (*results.Network, error)
}

// Loopback is this host alone. It loses nothing, and has neither delay nor rate but
// its own.
type Loopback struct {
	Why string // there is nothing better
}

// Links implements [Ground].
func (l Loopback) Links() results.Links { return results.Links{Kind: results.Loopback, Why: l.Why} }

// Offer implements [Ground]. A run that asks for no loss misses only delays and rates here, and
// a result without these is better than none.
func (l Loopback) Offer(_ string, link emulate.Link) (*emulate.Link, string) {
	if link.Loss.Share() > 0 || link.Reorder > 0 || link.Duplicate > 0 || link.Corrupt > 0 {
		return &link, "needs an emulated network: " + l.Why
	}
	return nil, ""
}

// Facts implements [Ground].
func (Loopback) Facts(int) map[string]string {
	return map[string]string{results.FactMTU: "the loopback's", results.FactOffloads: "the loopback's"}
}

// Open implements [Ground].
func (Loopback) Open(Conditions) (Site, error) { return here{}, nil }

type here struct{}

func (here) Place(*job.Config)                {}
func (here) Close() (*results.Network, error) { return nil, nil }
