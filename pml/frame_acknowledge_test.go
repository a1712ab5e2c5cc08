package pml

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// scripted is an endpoint that answers Send as it is told to and keeps the
// headers of what it took.
type scripted struct {
	btl.Endpoint
	result btl.Result
	room   int // it is Busy once so many were sent; 0: never
	offers int // calls of Send
	sent   []wire.Header
	closed func() // is called by Close, once
}

func (s *scripted) Send(f *btl.Frame, _ int) btl.Result {
	s.offers++
	if s.result == btl.Done {
		var h wire.Header
		if err := h.Decode(f.Header, f.Size); err != nil {
			panic(err)
		}
		s.sent = append(s.sent, h)
		if s.room > 0 && len(s.sent) >= s.room {
			s.result = btl.Busy
			return btl.Done
		}
	}
	return s.result
}

func (s *scripted) Close() error {
	if s.closed != nil {
		s.closed()
		s.closed = nil
	}
	return nil
}

func (s *scripted) Desc() string { return "scripted" }

// connected returns a peer with one rail, over a scripted endpoint.
func connected(t testing.TB) (*peer, *scripted) {
	eng, err := engine.New(engine.Options{Simulated: true})
	require.NoError(t, err)
	t.Cleanup(eng.Close)
	ep := &scripted{result: btl.Done}
	p := &PML{engine: eng, bounds: ordinary, peers: make(map[int]*peer), acquaintances: make(map[int]*acquaintance), lookups: t.Context()}
	pe := p.peerOf(1)
	pe.also(&rail{endpoint: ep}, rails.Up)
	eng.Lock()
	t.Cleanup(func() {
		// Until the engine closes its background goroutine may run the timers that are
		// due, which do nothing for a peer that has failed.
		pe.ways.Stage = rails.Failed
		eng.Unlock()
	})
	return pe, ep
}

func TestFrameThatFillsAGapIsAcknowledged(t *testing.T) {
	pe, ep := connected(t)
	require.NoError(t, pe.arrived(1, true, true)) // the end of a message, ahead of the rest
	pe.pml.Flush()
	require.NotEmpty(t, ep.sent)
	ep.sent = nil
	require.NoError(t, pe.arrived(0, true, false))
	pe.pml.Flush()
	require.Len(t, ep.sent, 1, "the sender waits for this frame too")
	require.Equal(t, uint32(2), ep.sent[0].Ack)
}

func TestAcknowledgementThatNoRailTookGoesWhenOneDoes(t *testing.T) {
	pe, ep := connected(t)
	ep.result = btl.Busy
	require.NoError(t, pe.arrived(0, true, true))
	pe.pml.Flush()
	require.Empty(t, ep.sent)
	ep.result = btl.Done
	pe.rails[0].Writable()
	require.Len(t, ep.sent, 1)
	require.Equal(t, uint32(1), ep.sent[0].Ack)
	pe.rails[0].Writable()
	require.Len(t, ep.sent, 1)
}
