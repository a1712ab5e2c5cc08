package tcp

import (
	"crypto/rand"

	"github.com/strandmp/strand/reach"
)

// thisNetwork identifies the network stack of this process. Where it can not be
// read it is random, so that everybody else is taken to be elsewhere.
func thisNetwork() networkID {
	id := networkID(reach.ThisNetwork())
	if id == (networkID{}) {
		rand.Read(id[:])
	}
	return id
}
