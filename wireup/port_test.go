package wireup

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// Where the system is to choose a port, and gives no socket, the transport is not available, and what is said
// fits the cause.
func TestNoPortIsChosen(t *testing.T) {
	for name, c := range map[string]struct {
		first, second error // what opening gives at two addresses
		tries         int
		why, what     string
	}{
		"no port is left":              {syscall.EADDRINUSE, nil, 1, "address already in use", "net.ipv4.ip_local_port_range with sysctl, or name others with btl_tcp_port_min"},
		"none is free on both":         {nil, syscall.EADDRINUSE, chosenAnew, "no port is free on all of lo: address already in use", "ip_local_port_range"},
		"no descriptor is left":        {nil, syscall.EMFILE, 1, "too many open files", "ulimit -n"},
		"sockets are not allowed":      {syscall.EPERM, nil, 1, "operation not permitted", "a sandbox"},
		"ports may not be listened at": {syscall.EACCES, nil, 1, "permission denied", "a sandbox"},
	} {
		t.Run(name, func(t *testing.T) {
			tries, undone := 0, 0
			var told error
			gives := []error{c.first, c.second}
			open := func(at int, _ uint16) (struct{}, uint16, error) {
				if at == 0 {
					tries++
				}
				return struct{}{}, 40_000, gives[at]
			}
			_, _, err := Bind(Ports{prefix: "btl_tcp_", warn: func(err error) { told = err }}, "lo", []int{0, 1}, open, func(struct{}) { undone++ })
			var unavailable *btl.UnavailableError
			require.ErrorAs(t, err, &unavailable)
			require.Equal(t, err, told)
			require.Equal(t, "tcp", unavailable.Component)
			require.Equal(t, c.why, unavailable.Reason)
			require.Contains(t, unavailable.Remedy, c.what)
			require.Equal(t, c.tries, tries)
			if c.first == nil {
				require.Equal(t, tries, undone)
			}
		})
	}
}
