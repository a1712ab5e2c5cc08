package pml

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/pml/wire"
)

// published is a job whose launcher has some values, answers when the test lets it, and counts.
type published struct {
	Job
	values map[string]string
	let    chan struct{}
	mu     sync.Mutex
	asked  map[string]int
}

func (p *published) Name() string { return "job" }
func (p *published) Size() int    { return 4 }
func (p *published) Get(ctx context.Context, key string) (string, error) {
	p.mu.Lock()
	p.asked[key]++
	p.mu.Unlock()
	select {
	case <-p.let:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if v, found := p.values[key]; found {
		return v, nil
	}
	return "", errors.New("no such key")
}

// acquaintedRank is a rank that can look others up.
func acquaintedRank(t *testing.T, job *published) *PML {
	eng, err := engine.New(engine.Options{Simulated: true})
	require.NoError(t, err)
	p := &PML{engine: eng, job: job, acquaintances: make(map[int]*acquaintance)}
	p.lookups, p.cancel = context.WithCancel(t.Context())
	p.host = &host{pml: p, keys: handshake.NewKeyPair(), identity: handshake.NewIdentity("job", []byte("secret"), 0)}
	t.Cleanup(func() {
		p.cancel()
		p.background.Wait()
		eng.Close()
	})
	return p
}

// Whoever asks for a peer, and however many: the launcher is asked once, and the key is computed
// once. It is the one that the peer has.
func TestPeersAreLookedUpOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		theirs := handshake.NewKeyPair()
		job := &published{asked: map[string]int{}, let: make(chan struct{}), values: map[string]string{
			addressKey(2): string(wire.EncodeRecord(theirs.Public(), []byte("hello"))),
			addressKey(3): string(wire.EncodeRecord(make([]byte, handshake.KeySize), nil)), // of low order
		}}
		p := acquaintedRank(t, job)
		var keys [][]byte
		var errs []error
		ask := func(rank int) {
			p.engine.Lock()
			defer p.engine.Unlock()
			p.host.PairKey(rank, func(key []byte, err error) {
				if err != nil {
					errs = append(errs, err)
					return
				}
				keys = append(keys, key)
			})
		}
		settle := func() {
			synctest.Wait()
			p.engine.Lock()
			p.engine.Poll(nil)
			p.engine.Unlock()
		}
		for range 3 {
			ask(1)
			ask(2)
			ask(3)
		}
		settle()
		assert.Empty(t, keys)
		assert.Equal(t, map[string]int{addressKey(1): 1, addressKey(2): 1, addressKey(3): 1}, maps.Clone(job.asked), "the loop does not wait for the launcher")
		close(job.let)
		settle()
		ask(2)
		want, err := handshake.NewIdentity("job", []byte("secret"), 2).Pair(theirs, 0, p.host.keys.Public())
		require.NoError(t, err)
		assert.Equal(t, [][]byte{want, want, want, want}, keys)
		assert.Len(t, errs, 6)
		ask(1)
		ask(3)
		ask(0)
		ask(4)
		settle()
		assert.Len(t, errs, 10)
		assert.Equal(t, map[string]int{addressKey(1): 2, addressKey(2): 1, addressKey(3): 2}, job.asked, "what has failed is asked again, and what is known is not")
	})
}
