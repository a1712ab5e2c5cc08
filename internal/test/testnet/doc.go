// Package testnet gives tests hosts and networks of their own: network
// namespaces joined by veth pairs, with addresses, routes, speeds, loss,
// firewalls and address translation, as real as the kernel makes them.
//
//	func TestMain(m *testing.M) { testnet.Main(m) }
//
//	n := testnet.New(t)
//	a, b := n.Host("a"), n.Host("b")
//	link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Rate(1000))
//	cmd := a.Command("ping", "-c1", link.B.Addr(0).String())
//
// What builds a network (New, Host, Link, Route and the like) ends the test at
// once if it fails. What happens to it later (Down, Up, Loss, Firewall) may be
// called on any goroutine and marks the test as failed.
//
// # Privileges
//
// It takes the superuser, or else a user namespace, in which Main then runs the
// whole test binary again. Where neither can be had, New skips the test by
// package need, which says why, and fails it in CI.
//
// # Tearing down
//
// A namespace has no name. It is held by descriptors of the test process, so
// that the kernel removes it, and all its interfaces, when that process ends
// whatever way. At the end of a test what still runs on its hosts is killed. If
// the test process is killed, so are processes that [Host.Command] started; what
// those have started is killed by the next test process. To look around on a host while its test is held up:
//
//	nsenter --net=/proc/PID/fd/N
//
// with the path that [Host.Namespace] returns.
//
// # Limits
//
//   - The driver of a veth says that it does 10,000 Mbit/s, whatever [Rate] is,
//     and can not be told otherwise: what asks drivers for speeds has to be given
//     [NIC.Speed] instead.
//   - Rate, loss and filters see what the sender's segmentation offload makes,
//     up to 64 KB at a time (without [Packets]), so that a loss of 1 % loses 1 % of the bytes but
//     fewer and longer stretches than on a wire.
//   - Loss is nftables' random drop on arrival, above ARP and neighbour discovery
//     answers of the link layer: a link with all lost still resolves IPv4
//     neighbours. There is no delay; few test kernels have netem.
//   - All hosts have one clock, one kernel and one set of processors.
package testnet
