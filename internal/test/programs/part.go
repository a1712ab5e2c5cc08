package programs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/given"
)

// isParting reports whether an error says that a peer has closed its world, or, where that
// may be, that the rank itself has.
func isParting(err error, own bool) bool {
	return errors.Is(err, strand.ErrPeerClosed) || own && errors.Is(err, strand.ErrClosed)
}

func newParting(f *farewell) *parting {
	return &parting{sent: make([]error, len(f.letters)), received: make([]arrival, len(f.wanted))}
}

// Part has this rank, and all others of its world, part in mid-transfer, as follows from a
// seed that they have in common. It closes the world, and returns what was against the rules
// of what this rank has seen.
func Part(ctx context.Context, w *strand.World, seed uint64) error {
	given.Context(ctx)
	f := drawFarewell(rand.New(rand.NewPCG(seed, 0xFA2E)), shape{
		ranks: w.Size(), sizes: []int{1, 1000, 4 << 10, 64 << 10, 256 << 10, 1 << 20}, farewell: 8 << 20,
	})
	p := newParting(f)
	me := w.Rank()
	if err := f.part(ctx, w, p, new(pulse)); err != nil {
		return err
	}
	return f.verdict(func(got map[*message]bool, say func(string, ...any)) { f.judgeRank(me, p, got, say) })
}

// part is a rank's part; its world is closed in the end.
func (f *farewell) part(ctx context.Context, w *strand.World, p *parting, beats *pulse) error {
	me := w.Rank()
	c, err := w.Comm().Dup(ctx)
	if err == nil {
		err = meet(ctx, c)
	}
	if err != nil {
		go func() { _ = w.Close() }() // it may hang for the same reason
		return fmt.Errorf("rank %d, before parting: %w", me, err)
	}
	l := &leaving{f: f, p: p, c: c, me: me, pulse: beats, random: rand.New(rand.NewPCG(f.seed, uint64(me)))}
	l.receives(ctx)
	l.sends(ctx)
	if me == f.stayer {
		l.stay(ctx)
		l.wg.Wait()
	} else {
		l.linger(ctx)
	}
	err = closeWorld(ctx, w)
	l.wg.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("rank %d, parting: %w\n%v", me, context.Cause(ctx), f)
	}
	return err
}

// meet has each rank exchange a message with each other: what follows is between ranks that
// know each other.
func meet(ctx context.Context, c *strand.Comm) error {
	var reqs []strand.Request
	for peer := range c.Size() {
		if peer == c.Rank() {
			continue
		}
		in, err := c.Irecv(make([]byte, 1), peer, 2)
		if err != nil {
			return err
		}
		out, err := c.Isend(make([]byte, 1), peer, 2)
		if err != nil {
			return err
		}
		reqs = append(reqs, in, out)
	}
	if err := strand.WaitAll(ctx, reqs, nil); err != nil {
		return err
	}
	return c.Barrier(ctx)
}

// leaving is one rank that takes part in a farewell.
type leaving struct {
	f      *farewell
	p      *parting
	c      *strand.Comm
	me     int
	pulse  *pulse
	random *rand.Rand
	tries  int // receives in a row whose contexts ended
	wg     sync.WaitGroup
}

// sends starts this rank's. Each buffer is overwritten as soon as its send has ended.
func (l *leaving) sends(ctx context.Context) {
	for i, m := range l.f.letters {
		if m.from != l.me {
			continue
		}
		b := newBuffer(m.size, pick(l.random, whole, whole, whole, vector, scattered), l.random)
		b.fill(m, l.f.seed)
		handle, err := isend(l.c, b, m.to, m.tag, l.f.modes[i])
		if errors.Is(err, strand.ErrBuffer) {
			handle, err = isend(l.c, b, m.to, m.tag, modeStandard)
		}
		if err != nil {
			l.p.sent[i] = err
			continue
		}
		l.wg.Go(func() {
			_, l.p.sent[i] = handle.Wait(ctx)
			if ctx.Err() == nil { // otherwise the session is given up, and the send goes on
				b.spoil()
				l.pulse.beat()
			}
		})
	}
}

// receives posts this rank's receives.
func (l *leaving) receives(ctx context.Context) {
	for i, w := range l.f.wanted {
		if w.rank != l.me {
			continue
		}
		b := newBuffer(w.room, pick(l.random, whole, whole, vector, scattered), l.random)
		handle, err := b.irecv(l.c, w.source, w.tag)
		if err != nil {
			l.p.received[i].err = err
			continue
		}
		l.wg.Go(func() {
			st, err := handle.Wait(ctx)
			l.p.received[i] = l.f.arrived(l.me, st, err, b)
			l.pulse.beat()
		})
	}
}

// arrived looks at what a receive has brought.
func (f *farewell) arrived(me int, st strand.Status, err error, b *buffer) arrival {
	a := arrival{st: st, err: err}
	if err != nil || st.Count > b.size {
		return a
	}
	if i := b.untouched(st.Count); i >= 0 {
		a.damaged = fmt.Sprintf("byte %d of the buffer was written to", i)
	}
	if st.Count == 0 {
		return a
	}
	content := b.content(st.Count)
	for _, m := range f.letters {
		if m.to == me && m.from == st.Source && m.tag == st.Tag && byte(m.index) == content[0] {
			a.letter = m
			if i := m.differs(content, f.seed); i >= 0 {
				a.damaged = fmt.Sprintf("byte %d of %d differs", i, st.Count)
			}
			return a
		}
	}
	a.damaged = fmt.Sprintf("begins with % x", content[:min(st.Count, headSize)])
	return a
}

// linger lets some time go by before the world is closed.
func (l *leaving) linger(ctx context.Context) {
	switch l.random.IntN(3) {
	case 0:
		for range l.random.IntN(50) {
			runtime.Gosched()
		}
	case 1:
		pause(ctx, time.Duration(l.random.IntN(2000))*time.Microsecond)
	}
}

// stay receives until nobody is left.
func (l *leaving) stay(ctx context.Context) {
	room := 0
	for _, m := range l.f.letters {
		room = max(room, m.size)
	}
	for l.p.end == nil && ctx.Err() == nil {
		b := newBuffer(room, whole, nil)
		st, got, err := l.next(ctx, b.memory)
		if got {
			l.p.loose = append(l.p.loose, l.f.arrived(l.me, st, nil, b))
			l.pulse.beat()
		}
		l.p.end = err
	}
}

// next receives a message, if there is one before a context ends.
func (l *leaving) next(ctx context.Context, b []byte) (st strand.Status, got bool, err error) {
	c := l.c
	switch l.f.how {
	case probesAny:
		var m *strand.Message
		if m, err = c.Mprobe(ctx, strand.AnySource, strand.AnyTag); err == nil {
			st, err = m.Recv(ctx, b)
		}
	case pollsAny:
		found := false
		if st, found, err = c.Iprobe(strand.AnySource, strand.AnyTag); !found {
			runtime.Gosched()
			return st, false, errors.Join(err, l.deserted())
		}
		st, err = c.Recv(ctx, b, st.Source, st.Tag)
	case brieflyAny:
		// A long message starts anew each time, and needs a context that lasts in the end,
		// however slow the machine is.
		l.tries++
		lasts := 100 * time.Microsecond << min(l.tries/2, 20)
		brief, cancel := context.WithTimeout(ctx, time.Duration(l.random.Int64N(int64(lasts))))
		defer cancel()
		st, err = c.Recv(brief, b, strand.AnySource, strand.AnyTag)
		if errors.Is(err, context.DeadlineExceeded) {
			return st, false, nil
		}
		l.tries = 0
	default:
		st, err = c.Recv(ctx, b, strand.AnySource, strand.AnyTag)
	}
	return st, err == nil, err
}

// deserted is why nothing comes from any other rank, or nil: who only looks is not told
// that nobody is left.
func (l *leaving) deserted() error {
	for peer := range l.c.Size() {
		if peer == l.me {
			continue
		}
		if _, found, err := l.c.Iprobe(peer, strand.AnyTag); found || err == nil {
			return nil
		} else if !isParting(err, false) {
			return err
		}
	}
	return strand.ErrPeerClosed
}

// closeWorld closes a world, and does not wait for that when the context has ended.
func closeWorld(ctx context.Context, w *strand.World) error {
	closed := make(chan error, 1)
	go func() { closed <- w.Close() }()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
