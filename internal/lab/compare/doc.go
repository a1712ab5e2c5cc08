// Package compare runs the same workloads over several transports, on networks that it
// emulates, and writes down what came of it: the machinery of strand compare.
//
// A [Plan] has variants, which are transports with parameters, and cells, each a workload with
// its parameters over one kind of network. In a cell the variants take turns,
// A B C, B C A, C A B, so that other work of the machine hits all alike. Each turn has its own ranks, started for
// it, and its own network. So nothing of one run is left for the next: no congestion window that
// the kernel has remembered, no segment on its way. In one round the networks of all variants
// have the same seed; the kernel's netem makes no use of it.
//
// The ranks are processes of the same program ([Member]), each on its own host of the
// network (package network). Where networks can not be had they are all
// on this host, and what needs a network is left out.
package compare
