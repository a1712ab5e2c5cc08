package sctp

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/stream"
)

// An association at rest keeps nothing of the messages that it has sent, and looks no more whether it does.
func TestRest(t *testing.T) {
	w, here, there := pair(t, 1, quiet(), nil)
	exchange(t, w, here, there)
	freed := make(chan uint16, 2)
	for id := range uint16(2) {
		here.sayOnce(id, freed)
	}
	w.run(w.now+time.Second, func() bool { return here.confirmed == here.sent })
	require.Equal(t, here.sent, here.confirmed)
	w.run(w.now+time.Duration(2*restAfter), nil)
	assert.Zero(t, here.a.restAt)
	assert.Zero(t, there.a.restAt)
	for range 2 {
		assert.True(t, collected(freed), "a message is held")
	}
	exchange(t, w, here, there)
	assert.NotZero(t, here.a.restAt)
	runtime.KeepAlive(here.a)
}

// sayOnce sends a message of which only the association knows, and tells when nobody knows it any more.
func (u *user) sayOnce(id uint16, freed chan<- uint16) {
	f := u.flow(id)
	b := content(id, f.sent, 30_000)
	m := &stream.Message{Stream: id, PPID: 7, Pieces: [][]byte{b}, Size: len(b)}
	runtime.AddCleanup(m, func(id uint16) { freed <- id }, id)
	require.NoError(u.n.w.t, u.a.Push(u.n.w.at(), m))
	f.sent++
	u.sent++
	u.n.flush(u.a)
}

// collected waits until the collector has found something to be free.
func collected(freed <-chan uint16) bool {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		runtime.GC()
		select {
		case <-freed:
			return true
		default:
			runtime.Gosched()
		}
	}
	return false
}
