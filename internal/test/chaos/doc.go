// Package chaos is a transport between the ranks of one process that keeps to
// the contract and to nothing beyond it. It delivers frames in any order, or in
// any order that one promise of the contract leaves; late; some whole, some in
// pieces, several of them at a time. It refuses frames for no reason, releases
// them early, late or only when they have arrived, and may turn two attempts to
// connect into two connections. What it does follows from a seed, as far as the
// order in which the ranks run allows.
//
// It loses nothing. It is for tests: a message layer that works over chaos does
// not depend on what a transport happens to do.
package chaos
