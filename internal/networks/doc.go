// Package networks is what the transports that stand on IP have in common: which
// of the host's addresses the user wants to be used, how a process tells the
// others of them, and what becomes of ports and attempts to connect.
package networks
