package userstack

import (
	"net/netip"
	"time"

	"github.com/strandmp/strand/internal/sctp"
)

// narrow has the addresses of peers an association with which has ended since some of what was sent was too long, for good, and until when that counts. The next one
// begins with packets that are as short as any, and finds out anew how long they may be.
type narrow map[netip.Addr]int64

const (
	// narrowFor is how long a way is taken to be so.
	narrowFor = int64(10 * time.Minute)
	// mostNarrow bounds the addresses: a peer may come with ever new ones.
	mostNarrow = 1024
)

// note takes the addresses of an association.
func (n *narrow) note(now int64, p *sctp.Association) {
	for i := range p.Paths() {
		n.add(now, p.Path(i).Remote.Addr())
	}
}

func (n *narrow) add(now int64, a netip.Addr) {
	if *n == nil {
		*n = make(narrow)
	}
	if len(*n) >= mostNarrow {
		n.tidy(now)
	}
	(*n)[a.WithZone("")] = now + narrowFor
}

// tidy makes room. What is forgotten is found out once more.
func (n *narrow) tidy(now int64) {
	for a, until := range *n {
		if now >= until {
			delete(*n, a)
		}
	}
	if len(*n) >= mostNarrow {
		clear(*n)
	}
}

func (n *narrow) has(now int64, a netip.Addr) bool { return now < (*n)[a.WithZone("")] }
