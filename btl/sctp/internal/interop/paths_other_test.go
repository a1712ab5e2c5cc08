//go:build !linux

package interop

import "testing"

const noNetworks = "not tried: the tests make networks on Linux alone"

func multihoming(testing.TB, string, peer, bool) string { return noNetworks }
func failover(testing.TB, string, peer, bool) string    { return noNetworks }
