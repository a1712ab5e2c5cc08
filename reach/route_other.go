//go:build !linux

package reach

import (
	"errors"
	"net/netip"
)

// DefaultPolicy is the policy where the user names none.
const DefaultPolicy = "weighted"

var errNoLookup = errors.New("not supported on this system")

// kernelLookup returns a lookup that fails: how to ask for a route differs from
// system to system.
func kernelLookup() (Lookup, func()) {
	return func(netip.Addr, netip.Addr) (Route, error) { return Route{}, errNoLookup }, func() {}
}
