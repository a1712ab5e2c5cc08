package tcp

import (
	"slices"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/reach"
)

// believed is for how long what the kernel has said about routes and carriers is
// taken to be so still. Many peers are met within moments of each other, and asking
// costs microseconds for each pair of addresses.
const believed = 2 * time.Second

// doubt has the kernel asked again when the next peer is met: a way that was thought
// to be there was not.
func (m *module) doubt() { m.asked = 0 }

// refresh forgets the routes that are too old to be believed, and looks whether an
// interface that had no carrier has one now.
func (m *module) refresh() {
	now := m.loop.Now()
	if m.asked != 0 && now-m.asked < int64(believed) {
		return
	}
	m.asked = max(now, 1)
	m.routes.Forget()
	bare := func(a reach.Address) bool { return a.Flags&reach.NoCarrier != 0 }
	if !slices.ContainsFunc(m.side.Addresses, bare) {
		return // one that has lost its carrier shows by failing
	}
	system, err := reach.System()
	if err != nil {
		return // what was so at the start has to do
	}
	m.side.Addresses = slices.Clone(m.side.Addresses)
	for i := range m.side.Addresses {
		a := &m.side.Addresses[i]
		at := slices.IndexFunc(system.Addresses, func(s reach.Address) bool { return s.Addr() == a.Addr() && s.Index == a.Index })
		if !bare(*a) || at < 0 || bare(system.Addresses[at]) {
			continue
		}
		a.Flags, a.Speed = system.Addresses[at].Flags, system.Addresses[at].Speed
		m.host.Logf(btl.LogInfo, "tcp: rank %d: %v has a carrier now", m.host.Rank(), a)
	}
}
