// Package networks is what the transports that stand on IP have in common: which
// of the host's addresses the user wants to be used, and how a process tells the
// others of them.
package networks
