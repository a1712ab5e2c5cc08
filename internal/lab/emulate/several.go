package emulate

import "math"

// A Network is one of several between the same hosts.
type Network struct {
	Name string `json:"name"`
	Link
	Down Schedule `json:"down,omitzero"`
}

// SeedOf is the seed of one of several networks between the same hosts. The first network has the
// given seed itself.
func SeedOf(seed uint64, network int) uint64 { return seed + uint64(network)*(math.MaxUint64/5) }
