package need

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
)

// lowestPort is the lowest that is given to a test: well-known servers have theirs below.
const lowestPort = 10000

// Ports returns n ports for servers that can not choose one themselves. They are free at every
// address when it returns, and lie below those that the kernel gives to whoever names none: of these
// a connection of somebody else's may have any, before the server does.
func Ports(n int) (ports []int, err error) {
	end := firstEphemeral()
	for range 1000 {
		if len(ports) == n {
			return ports, nil
		}
		port := lowestPort + rand.IntN(end-lowestPort) // the generator's seed differs between processes
		l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
		if err != nil {
			continue
		}
		defer l.Close() // when all are found, so that no two are the same
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("%d ports from %d to %d: fewer are free", n, lowestPort, end-1)
}

// PortRange returns the first and the last of n ports among which a program chooses some itself, below those that the kernel
// gives to whoever names none. A port of those may have been another test's a moment ago, and what that one still sends
// would reach the program. Some of the n may be taken: the program has to try another.
func PortRange(n int) (first, last int) {
	first = lowestPort + rand.IntN(firstEphemeral()-lowestPort-n)
	return first, first + n - 1
}

// firstEphemeral is the first port that the kernel gives away itself.
func firstEphemeral() (first int) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		_, err = fmt.Sscan(string(text), &first)
	}
	if err != nil || first <= 20000 {
		return 32768 // Linux's own
	}
	return first
}
