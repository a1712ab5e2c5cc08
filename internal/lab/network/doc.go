// Package network builds a network of hosts that are joined by emulated links. Each host is a
// namespace with an interface to each of its networks, eth0 being the first. The interfaces lead
// to a switch ([Backend]). That is one in user space (packages emulate and wire), or else the
// kernel's own bridges with netem and token buckets, where the kernel has them and they can do
// what is asked for.
//
//	n, err := network.New(network.Config{Hosts: 8, Link: link, Seed: 1})
//	…
//	defer n.Close()
//	cmd := n.Host(3).Command("./program")
//
// It needs the rights to make namespaces: see package netspace, whose Isolate gets
// them. Nothing outlives the process.
//
// # What the hosts have
//
// IPv4 only, [Host.Addr]; each knows the others' Ethernet addresses, so that
// nothing but what programs send is on the links. Offloads are off: frames are as
// on a wire, at most MTU and their header, with their checksums.
package network
