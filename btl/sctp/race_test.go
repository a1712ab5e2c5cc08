//go:build race

package sctp

// floodRate is far less than what the user stack is to bear: the race detector makes each
// association cost ten times as much, and on a busy machine the member has to have its turn.
const floodRate = 100
