package pml

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
)

// Networks that refuse, or are cut, one after the other do not end a peer that lives: one is
// back when the other one fails. What counts is that all fail at one time.
func TestNetworksThatFailInTurn(t *testing.T) {
	for name, met := range map[string]bool{"at first contact": false, "later": true} {
		for _, err := range []error{syscall.ECONNREFUSED, assert.AnError} {
			t.Run(name, func(t *testing.T) {
				disconnected(t, func(t *testing.T, pe *peer, _ []*scripted) {
					pe.lead(pe.rails[:2]...)
					for _, r := range pe.rails {
						r.module = &connector{ep: &scripted{result: btl.Busy}}
					}
					pe.ways.Met = met
					pe.connect()
					pe.pass(rails.NextRail + time.Millisecond)
					pe.rails[0].Down(err)
					pe.pass(time.Second)
					pe.rails[1].Down(err)
					pe.pass(3 * time.Second)
					require.NoError(t, pe.failure, "the first one may be back")
					pe.rails[0].comesUp()
				})
			})
		}
	}
}
