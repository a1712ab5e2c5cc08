package tcp

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/strandmp/strand/internal/openfiles"
	"github.com/strandmp/strand/internal/strangers"
)

const (
	// mostStrangers bounds the connections that have not proved themselves, and
	// one descriptor in so many of those that the process may have.
	mostStrangers    = 1024
	strangersPerFile = 8
	// A flood gets no more than a small part of the process's time: once there
	// are more strangers than calm, a listener rests after each batch.
	calm      = 64
	floodRest = time.Millisecond
)

// A crowd is the connections that others have made to us and that have not proved
// themselves. Its pace is that of the listeners: who was not let in would wait in the
// system's queue, which a flood fills for everybody.
type crowd = strangers.Crowd[*inbound]

func newCrowd(most int) *crowd {
	return strangers.New[*inbound](strangers.Rules{Most: most, Chance: rand.IntN})
}

// strangersAllowed is how many strangers a process may bear.
func strangersAllowed() int {
	if limit := openfiles.Limit(); limit > 0 {
		return min(mostStrangers, max(limit/strangersPerFile, 1))
	}
	return mostStrangers
}

var errNoProof = errors.New("no proof of belonging to this job")
