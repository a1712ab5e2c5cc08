package engine

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/coherence"
)

// breath takes a moment after a look at memory that has found nothing. Who looks again at once has the line that the peer is about to write most of
// the time, and the peer has to get it back first: that is half of the way of a short message where processors are far apart. A
// system call takes longer anyway.
func breath(source btl.Poller) {
	if _, system := source.(btl.Watched); !system {
		coherence.Pause()
	}
}
