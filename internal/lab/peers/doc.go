// Package peers measures Strand beside Open MPI, MPICH and raw sockets in all cells that a program
// might meet: ping-pong, streams, rates, bursts, pairs and depths, over shared memory and TCP, and
// makes a page of it, docs/PERFORMANCE.md.
//
// # Rounds
//
// How fast a process is depends on where its memory happens to lie and on states that last as long
// as it runs. So all contenders are started anew for each round. In a round they take turns, block
// by block, in each cell. What a contender took in a cell of a round is the median of its blocks
// there. Two contenders are compared round by round ([stats.ByRound]), so that a state which lasts
// a whole round shows as spread. Of several variants of a peer the best counts, for each cell.
//
// # Verdicts
//
// A cell fails where the whole interval of the ratio is on the wrong side of its aim ([aimOf]). A
// table passes if at most 5 % of its cells fail, and none by more than 1.25 times. Why a cell falls
// short is kept by hand in a file ([Reasons]) and joined in.
package peers
