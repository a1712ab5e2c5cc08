package coll

import "slices"

// Places say on which hosts the processes of a communicator are. All processes have the same.
type Places struct {
	// Crowded says that a host has more processes than processors. Then messages cost
	// more than the rounds in which they go: whoever waits lets another process run.
	Crowded bool
	// ByMemory says that processes of a host pass messages by memory that they share. Elsewhere each message is a
	// system call on either side.
	ByMemory bool

	hosts   []int   // of each rank; hosts are numbered in the order of their lowest ranks
	members [][]int // of each host, in the order of ranks
	index   []int   // of each rank, among those of its host
}

// PlacesOf numbers the hosts, of which there is a name for each rank.
func PlacesOf[Name comparable](names []Name, crowded bool) *Places {
	p := &Places{Crowded: crowded, hosts: make([]int, len(names)), index: make([]int, len(names))}
	numbers := map[Name]int{}
	for rank, name := range names {
		host, known := numbers[name]
		if !known {
			host = len(p.members)
			numbers[name] = host
			p.members = append(p.members, nil)
		}
		p.hosts[rank], p.index[rank] = host, len(p.members[host])
		p.members[host] = append(p.members[host], rank)
	}
	return p
}

// Host is the number of a rank's host.
func (p *Places) Host(rank int) int { return p.hosts[rank] }

// Shared are the ranks on the host of a rank, in their order.
func (p *Places) Shared(rank int) []int { return slices.Clone(p.members[p.hosts[rank]]) }

// layered reports whether there are several hosts, and several processes on one of them.
func (p *Places) layered() bool {
	return p != nil && len(p.members) > 1 && len(p.members) < len(p.hosts)
}

// Lone reports whether all are on one host.
func (p *Places) Lone() bool { return len(p.members) == 1 }

// A Placed communicator knows where its processes are, and has what calls need that go by hosts.
type Placed interface {
	Comm
	// Teams returns what is the call's own until it returns; nil if nothing is known.
	Teams() *Teams
}

// Teams are the processes of a host, and one of each host. Who makes calls keeps them, so that they
// cost no memory.
type Teams struct {
	Places *Places

	local, leads team
}

// teamsOf returns what is known of where processes are.
func teamsOf(c Comm) *Teams {
	if p, ok := c.(Placed); ok {
		if t := p.Teams(); t != nil && t.Places != nil {
			return t
		}
	}
	return nil
}

func crowded(c Comm) bool { return teamsOf(c).crowded() }

// A team is some of the processes of a communicator.
type team struct {
	Comm
	ranks []int // nil: one of each host
	at    int   // this process's number; −1: it is not in the team

	members [][]int // of each host
	host    int     // that of the root,
	root    int     // which leads there; elsewhere the lowest rank does
	crowd   *Teams
}

// form makes the teams of a call with a root.
func (t *Teams) form(c Comm, root int) (local, leads *team) {
	p, rank := t.Places, c.Rank()
	host := p.hosts[rank]
	t.local = team{Comm: c, ranks: p.members[host], at: p.index[rank]}
	t.leads = team{Comm: c, members: p.members, host: p.hosts[root], root: root, at: -1}
	if t.leads.lead(host) == rank {
		t.leads.at = host
	}
	t.local.host = 0
	if host == p.hosts[root] {
		t.local.host = p.index[root]
	}
	if p.Crowded {
		t.local.crowd = crowd
	}
	return &t.local, &t.leads
}

// crowd is what the processes of a crowded host know.
var crowd = &Teams{Places: &Places{Crowded: true}}

// lead is the rank that leads on a host.
func (t *team) lead(host int) int {
	if host == t.host {
		return t.root
	}
	return t.members[host][0]
}

// Rank implements [Comm].
func (t *team) Rank() int { return t.at }

// Size implements [Comm].
func (t *team) Size() int {
	if t.ranks == nil {
		return len(t.members)
	}
	return len(t.ranks)
}

func (t *team) outside(member int) int {
	if t.ranks == nil {
		return t.lead(member)
	}
	return t.ranks[member]
}

// Send implements [Comm].
func (t *team) Send(buf []byte, to int) error { return t.Comm.Send(buf, t.outside(to)) }

// Recv implements [Comm].
func (t *team) Recv(buf []byte, from int) error { return t.Comm.Recv(buf, t.outside(from)) }

// Teams implements [Placed].
func (t *team) Teams() *Teams { return t.crowd }
