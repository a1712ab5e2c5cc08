package pml

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/pml/wire"
)

// crowded has the process's ranks outnumber the processors.
func crowded(t *testing.T, p *PML) {
	crowd, err := engine.New(engine.Options{Simulated: true, Crowded: true})
	require.NoError(t, err)
	t.Cleanup(crowd.Close)
	crowd.Lock()
	t.Cleanup(crowd.Unlock)
	p.engine = crowd
}

// Within a machine, and only there, a crowd sends less at once: more goes when receives were posted first, and what found no receive
// is noted from there on.
func TestACrowdAsksSooner(t *testing.T) {
	for name, c := range map[string]struct {
		crowd         bool
		path, typical time.Duration
		most          int
	}{
		"shared memory":             {true, 300 * time.Nanosecond, 300 * time.Nanosecond, 64 << 10},
		"the loopback":              {true, 5 * time.Microsecond, 25 * time.Microsecond, 64 << 10},
		"path unknown":              {true, 0, 5 * time.Microsecond, 64 << 10},
		"another host":              {true, 25 * time.Microsecond, 25 * time.Microsecond, 256 << 10},
		"nothing known":             {true, 0, 0, 256 << 10},
		"a processor for each rank": {false, 5 * time.Microsecond, 25 * time.Microsecond, 256 << 10},
	} {
		pe, ep, ctx := receiving(t)
		if c.crowd {
			crowded(t, pe.pml)
		}
		r := pe.rails[0]
		r.path.Latency = c.path
		r.attr = btl.Attr{EagerLimit: 16 << 10, MaxFrame: 1 << 20, Reliable: true, Ordered: true, Latency: c.typical}
		pe.pml.tune.eagerMax, pe.pml.tune.eagerCrowd, pe.pml.tune.eagerAwaited = 256<<10, crowdMost, 1<<20
		pe.credit.Open(1 << 20)
		send := func(n int) wire.Kind {
			ep.sent = nil
			_, err := ctx.isend(make([]byte, n), nil, 1, 5, Standard)
			require.NoError(t, err)
			require.Len(t, ep.sent, 1)
			return ep.sent[0].Kind
		}
		assert.Equal(t, wire.Eager, send(c.most), name)
		assert.Equal(t, wire.Request, send(c.most+1), name)
		for range awaitedNear {
			pe.awaited.answered(true)
		}
		assert.Equal(t, wire.Eager, send(c.most+1), name)
		for n, want := range map[int]bool{c.most: false, c.most + 1: true} {
			pe.unawaited = false
			r.noteUnawaited(n)
			assert.Equal(t, want, pe.unawaited, "%s: %d bytes", name, n)
		}
	}
}
