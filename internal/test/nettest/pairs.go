//go:build linux

package nettest

import (
	"testing"

	"github.com/strandmp/strand/internal/test/testnet"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// Pairs returns what a process on one host makes of the addresses of another, by the
// routes of its kernel, if both offer what they would by default.
func Pairs(t testing.TB, a, b *testnet.Host) reach.Result {
	t.Helper()
	var result reach.Result
	local, remote := sideOf(t, a), sideOf(t, b)
	remote.Held = nil // which is not published
	do(t, a, func() error {
		result = reach.Match(local, remote, reach.RoutePolicy(nil))
		return nil
	})
	return result
}

// sideOf is what a process on a host has to offer.
func sideOf(t testing.TB, h *testnet.Host) (side reach.Side) {
	t.Helper()
	do(t, h, func() (err error) {
		side, err = reach.System()
		return err
	})
	fit, left := wireup.Fit(side.Addresses)
	side.Addresses = fit
	for _, a := range left {
		side.Held = append(side.Held, a.Addr())
	}
	return side
}

func do(t testing.TB, h *testnet.Host, f func() error) {
	t.Helper()
	if err := h.Do(f); err != nil {
		t.Fatalf("on host %s: %v", h.Name(), err)
	}
}
