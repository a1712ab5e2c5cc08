// Package compare runs the same workloads over several transports, on networks that it
// emulates, and writes down what came of it: the machinery of strand compare.
//
// A [Plan] has variants, which are transports with parameters, and cells, each a
// workload with its parameters over one kind of network. In a cell the variants take
// turns, A B C, B C A, C A B, so that what else the machine does hits all alike. Each turn
// has ranks of its own, which are started for it, and a network of its own, so that nothing
// of one run is left for the next: no congestion window that the kernel has remembered, no
// segment on its way. In one round all variants get networks with the same seed,
// which those of the kernel do not heed.
//
// The ranks are processes of the same program ([Member]), each on its own host of the
// network (package network). Where networks can not be had they are all
// on this host, and what needs a network is left out.
package compare
