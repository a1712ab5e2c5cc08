package pml

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
)

// disconnected runs a test, in virtual time, with a peer to which three rails lead of
// which none is connected.
func disconnected(t *testing.T, f func(t *testing.T, pe *peer, eps []*scripted)) {
	synctest.Test(t, func(t *testing.T) {
		pe, first := connected(t)
		_, second := secondRail(pe)
		_, third := secondRail(pe)
		eps := []*scripted{first, second, third}
		for i, ep := range eps {
			ep.result = btl.Busy
			pe.rails[i].is(rails.Idle)
		}
		f(t, pe, eps)
	})
}

// pass lets virtual time pass, in which the engine may run.
func (pe *peer) pass(d time.Duration) {
	e := pe.pml.engine
	e.Unlock()
	<-time.After(d)
	synctest.Wait()
	e.Lock()
}

// dialled tells which endpoints were asked to connect.
func dialled(eps []*scripted) (which []bool) {
	for _, ep := range eps {
		which = append(which, ep.offers > 0)
	}
	return which
}

// A rail that takes its time to connect holds up nobody: the next one is tried beside
// it.
func TestRailsAreTriedOneAfterTheOther(t *testing.T) {
	disconnected(t, func(t *testing.T, pe *peer, eps []*scripted) {
		pe.connect()
		pe.connect() // another send
		assert.Equal(t, []bool{true, false, false}, dialled(eps))
		pe.pass(rails.NextRail + 10*time.Millisecond)
		assert.Equal(t, []bool{true, true, false}, dialled(eps))
		pe.pass(rails.NextRail)
		assert.Equal(t, []bool{true, true, true}, dialled(eps))
	})
}

// Once one is connected the others are left alone until they are needed.
func TestConnectedRailEndsTheSearch(t *testing.T) {
	disconnected(t, func(t *testing.T, pe *peer, eps []*scripted) {
		pe.connect()
		pe.pass(rails.NextRail + 10*time.Millisecond)
		pe.rails[1].comesUp()
		pe.pass(10 * rails.NextRail)
		assert.Equal(t, []bool{true, true, false}, dialled(eps))
	})
}

// nowhere is a job that does not know where its ranks are.
type nowhere struct{ Job }

func (nowhere) Get(context.Context, string) (string, error) { return "", errors.New("no such key") }

// A receive that names a peer does not wait for ever for it to make contact.
func TestReceiveSeeksItsSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pe, _, c := receiving(t)
		pe.lead()
		pe.ways.Stage, pe.pml.job = rails.New, nowhere{}
		post(t, c, nil)
		post(t, c, nil)
		pe.pass(rails.FirstContact / 2)
		require.Equal(t, rails.New, pe.ways.Stage)
		pe.pass(rails.FirstContact)
		require.ErrorContains(t, pe.failure, "no such key", "it was asked where the peer is")
	})
}
