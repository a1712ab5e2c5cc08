package tcp

import (
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
)

var _ btl.Neighbour = (*endpoint)(nil)

// LastOn implements [btl.Neighbour]. Within a host what is sent is received on the sender's processor. So is the acknowledgement of
// what this side has sent, on its own.
func (ep *endpoint) LastOn() (processor int, known bool) {
	if !ep.nearby || !ep.Live() {
		return 0, false
	}
	processor, err := unix.GetsockoptInt(ep.conn.FD(), unix.SOL_SOCKET, unix.SO_INCOMING_CPU)
	return processor, err == nil && processor >= 0
}
