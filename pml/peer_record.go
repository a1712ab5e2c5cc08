package pml

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/wire"
)

// An acquaintance is what this process knows of another one by the launcher: the key that both
// share, and how it is reached. The two are looked up together, once, for whoever of the
// message layer and the transports asks first.
type acquaintance struct {
	key     []byte // nil until it is known
	hello   []byte
	waiting []func(*acquaintance, error)
}

// acquaint calls then with what is known of a peer, at once or when the launcher has
// answered. A goroutine waits for the launcher, and computes the key, without the engine's
// lock.
func (p *PML) acquaint(rank int, then func(*acquaintance, error)) {
	a := p.acquaintances[rank]
	switch {
	case a != nil && a.key != nil:
		then(a, nil)
		return
	case a != nil:
		a.waiting = append(a.waiting, then)
		return
	case p.over:
		return // nobody waits any more
	}
	a = &acquaintance{waiting: []func(*acquaintance, error){then}}
	p.acquaintances[rank] = a
	p.background.Add(1)
	go func() {
		defer p.background.Done()
		key, hello, err := p.meet(rank)
		p.engine.Post(func() { p.acquainted(rank, a, key, hello, err) })
	}()
}

// meet looks a peer up and derives the key that both share.
func (p *PML) meet(rank int) (key, hello []byte, err error) {
	record, err := p.lookUp(rank)
	if err != nil {
		return nil, nil, err
	}
	public, hello, err := wire.DecodeRecord([]byte(record))
	if err != nil {
		return nil, nil, err
	}
	key, err = p.host.identity.Pair(p.host.keys, rank, public)
	return key, hello, err
}

// acquainted takes the outcome. After a failure the next who asks has the peer looked up again.
func (p *PML) acquainted(rank int, a *acquaintance, key, hello []byte, err error) {
	waiting := a.waiting
	a.key, a.hello, a.waiting = key, hello, nil
	if err != nil {
		delete(p.acquaintances, rank)
	}
	for _, then := range waiting {
		then(a, err)
	}
}

var errNoPeer = errors.New("there is no such peer")

// PairKey implements [btl.Host].
func (h *host) PairKey(rank int, found func(key []byte, err error)) {
	if rank < 0 || rank >= h.Size() || rank == h.Rank() {
		found(nil, fmt.Errorf("%w: rank %d", errNoPeer, rank))
		return
	}
	h.pml.acquaint(rank, func(a *acquaintance, err error) { found(a.key, err) })
}

const secretKey = "strand-secret"

func addressKey(rank int) string { return fmt.Sprintf("strand-addr-%d", rank) }

// exchange publishes this process's record and learns the job's secret. With it rank 0 tells of its parameters those that all have alike: who has others,
// and found out by waiting for ever, finds out here. So it costs no message of its own.
func exchange(ctx context.Context, cfg Config, record []byte) ([]byte, error) {
	if cfg.Job.Size() == 1 {
		return newSecret(), nil
	}
	if cfg.Job.Rank() == 0 {
		if err := cfg.Job.Put(ctx, secretKey, string(newSecret())+cfg.Params.Alike()); err != nil {
			return nil, err
		}
	}
	if err := cfg.Job.Put(ctx, addressKey(cfg.Job.Rank()), string(record)); err != nil {
		return nil, err
	}
	if err := meet(ctx, cfg.Job, cfg.Log); err != nil {
		return nil, err
	}
	secret, err := cfg.Job.Get(ctx, secretKey)
	if err != nil {
		return nil, err
	}
	if len(secret) < secretSize {
		return nil, errors.New("the secret that rank 0 published is damaged")
	}
	if err := cfg.Params.CheckAlike(0, secret[secretSize:]); err != nil {
		return nil, err
	}
	return []byte(secret[:secretSize]), nil
}

// meetingPatience is how long a process waits in silence for the others to join.
const meetingPatience = 30 * time.Second

// meet waits until all processes of the job have come as far. Most launchers leave them waiting for one that has ended before, and
// say nothing. So two ranks say it, of which one may be that one.
func meet(ctx context.Context, job Job, log func(btl.LogLevel, string)) error {
	if rank := job.Rank(); rank < 2 && log != nil {
		late := time.AfterFunc(meetingPatience, func() {
			log(btl.LogWarn, fmt.Sprintf("rank %d: has waited in Init for %v until all ranks come there: does one take long, or has it ended before? "+
				"strand run and srun -K end a job whose rank fails, and strand info --live names whom a job of strand run waits for", rank, meetingPatience))
		})
		defer late.Stop()
	}
	return job.Barrier(ctx)
}
