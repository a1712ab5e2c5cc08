//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"net/netip"
	"slices"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/sctpsock"
)

// paths are an association's, one for each of the peer's addresses.
type paths []path

type path struct {
	addr  netip.AddrPort
	up    bool
	since time.Time
}

// state is by the clock as it is now, which may have been set since.
func (p path) state() btl.PathState {
	return btl.PathState{Desc: "to " + p.addr.String(), Up: p.up, Since: time.Now().Add(-time.Since(p.since))}
}

// pathsOf asks the kernel which paths an association has.
func (k *kernel) pathsOf(id sctpsock.AssocID, now time.Time) paths {
	addrs, err := k.sock.PeerAddrs(id)
	if err != nil {
		return nil // the association is no more, which a notification tells
	}
	var all paths
	for _, addr := range addrs {
		p := path{addr: addr, up: true, since: now}
		if info, err := k.sock.Path(id, addr); err == nil {
			p.up = info.State == sctpsock.PathActive
		}
		all = append(all, p)
	}
	return all
}

// Paths implements [stack.Association].
func (a *association) Paths() []btl.PathState {
	var all []btl.PathState
	for _, p := range a.paths {
		all = append(all, p.state())
	}
	return all
}

func (p paths) anyDown() bool {
	return slices.ContainsFunc(p, func(q path) bool { return !q.up })
}

// pathChanged follows one of the peer's addresses.
func (a *association) pathChanged(n sctpsock.Notification, now time.Time) {
	i := slices.IndexFunc(a.paths, func(p path) bool { return p.addr == n.Addr })
	up := false
	switch n.State {
	case sctpsock.AddrAvailable, sctpsock.AddrConfirmed, sctpsock.AddrAdded:
		up = true
	case sctpsock.AddrUnreachable, sctpsock.AddrPotentiallyFailed:
	case sctpsock.AddrRemoved:
		if i >= 0 {
			a.paths = slices.Delete(a.paths, i, i+1)
		}
		return
	default:
		return
	}
	if i < 0 {
		a.paths = append(a.paths, path{addr: n.Addr})
		i = len(a.paths) - 1
	} else if a.paths[i].up == up {
		return
	}
	a.paths[i].up, a.paths[i].since = up, now
	if a.up {
		a.handler.PathChanged(a.paths[i].state())
	}
}
