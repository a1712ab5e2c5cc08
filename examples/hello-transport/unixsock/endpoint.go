package unixsock

import (
	"fmt"

	"github.com/strandmp/strand/handoff"
)

// An endpoint is the connection to one peer.
type endpoint struct{ handoff.Endpoint }

// Addresses implements [wireup.Endpoint]: the socket of one who has connected has no name.
func (e *endpoint) Addresses() (local, remote string) {
	local, remote = e.Endpoint.Addresses()
	if e.Accepted() {
		remote = fmt.Sprintf("rank %d", e.Rank())
	}
	return local, remote
}
