package programs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/strandmp/strand"
)

// A serial is a persistent operation of a rank.
type serial struct {
	op      *strand.Persistent
	comm    int
	buffer  *buffer
	request *request // of its last start
}

// persistent adds messages of one length that a persistent operation sends, or receives.
func (g *generator) persistent() {
	c := g.comm()
	from, to := g.member(c), g.member(c)
	rounds, size, tag := 2+g.IntN(5), g.size(), g.tag()
	if rounds*size > g.bytes {
		size = g.IntN(10)
	}
	g.bytes -= rounds * size
	send := step{kind: stepSend, rank: from, comm: c.id, mode: mode(g.IntN(3)), form: pick(g.Rand, whole, scattered), series: g.number()}
	receive := step{kind: stepRecv, rank: to, comm: c.id, pattern: g.want(c), room: g.room(), form: pick(g.Rand, whole, scattered), series: g.number()}
	for range rounds {
		s, r := send, receive
		if s.message = g.tagged(c, from, to, size, tag); s.message == nil {
			return
		}
		if g.IntN(2) == 0 {
			g.add(&s)
			g.add(&r)
		} else {
			g.add(&r)
			g.add(&s)
		}
		for range g.IntN(3) {
			g.add(&step{kind: stepTest, rank: pick(g.Rand, from, to)})
		}
		if g.IntN(4) == 0 {
			g.add(&step{kind: stepBarrier, comm: c.id})
		}
	}
}

// number is that of a new series, or 0: its steps make a new operation each.
func (g *generator) number() int {
	if g.IntN(4) == 0 {
		return 0
	}
	g.series++
	return g.series
}

// sendAgain starts the persistent operation of a step, unless it is under way.
func (r *rank) sendAgain(s *step) (bool, error) {
	m := s.message
	x, err := r.ready(s, m.size, func(b *buffer) (*strand.Persistent, error) {
		return sendInit(r.comms[s.comm], b, r.program.comms[s.comm].rank(m.to), m.tag, s.mode)
	})
	if x == nil || err != nil {
		return false, err
	}
	x.buffer.fill(m, r.program.seed)
	handle, err := x.start(r)
	if errors.Is(err, strand.ErrBuffer) && s.mode == modeBuffered {
		r.tally.NoBuffer++
		x.buffer.spoil()
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r.goesOn(x, &request{handle: handle, buffer: x.buffer, message: m, mode: s.mode})
	return true, nil
}

// receiveAgain is sendAgain for a receive.
func (r *rank) receiveAgain(s *step) (bool, error) {
	x, err := r.ready(s, s.room, func(b *buffer) (*strand.Persistent, error) {
		return recvInit(r.comms[s.comm], b, r.source(s.comm, s.pattern), s.pattern.tag)
	})
	if x == nil || err != nil {
		return false, err
	}
	rec := r.note(posted, s.comm, s.pattern, s.room)
	handle, err := x.start(r)
	if err != nil {
		return false, err
	}
	r.history.tick()
	r.goesOn(x, &request{handle: handle, buffer: x.buffer, reception: rec})
	return true, nil
}

func (r *rank) goesOn(x *serial, q *request) {
	x.request = q
	r.requests = append(r.requests, q)
}

// ready returns the persistent operation of a step, which is made if there is none. It is nil
// if the operation is under way: then it can not be started.
func (r *rank) ready(s *step, size int, describe func(*buffer) (*strand.Persistent, error)) (*serial, error) {
	x := r.series[s.series]
	if x == nil {
		b := r.buffer(size, s.form)
		op, err := describe(b)
		x = &serial{op: op, comm: s.comm, buffer: b}
		r.series[s.series] = x
		return x, err
	}
	if free, err := r.isFree(x); !free || err != nil {
		return nil, err
	}
	if i := x.buffer.untouched(0); i >= 0 {
		return nil, fmt.Errorf("byte %d of the buffer of a persistent operation was written to between its end and its next start", i)
	}
	r.tally.Again++
	return x, nil
}

// isFree reports whether the last start of an operation has ended.
func (r *rank) isFree(x *serial) (bool, error) {
	q := x.request
	if q == nil || !slices.Contains(r.requests, q) {
		return true, nil
	}
	if st, done, err := q.handle.Test(); done {
		return true, r.ended(q, st, err)
	}
	if _, err := x.op.Start(); !errors.Is(err, strand.ErrStarted) {
		return false, fmt.Errorf("a persistent operation that is under way is started with %s", fmt.Sprint(err))
	}
	r.tally.UnderWay++
	return false, nil
}

// start starts the operation, in one of the ways there are.
func (x *serial) start(r *rank) (strand.Request, error) {
	if r.random.IntN(2) == 0 {
		return x.op.Start()
	}
	reqs, err := strand.StartAll([]*strand.Persistent{x.op}, nil)
	if err != nil {
		return strand.Request{}, err
	}
	return reqs[0], nil
}

// sendInit describes what isend does of a buffer that is no vector.
func sendInit(c *strand.Comm, b *buffer, to, tag int, how mode) (*strand.Persistent, error) {
	inView := b.form == scattered
	switch {
	case how == modeSynchronous && inView:
		return c.SsendInitView(b.view, to, tag)
	case how == modeSynchronous:
		return c.SsendInit(b.memory, to, tag)
	case how == modeBuffered && inView:
		return c.BsendInitView(b.view, to, tag)
	case how == modeBuffered:
		return c.BsendInit(b.memory, to, tag)
	case inView:
		return c.SendInitView(b.view, to, tag)
	}
	return c.SendInit(b.memory, to, tag)
}

func recvInit(c *strand.Comm, b *buffer, source, tag int) (*strand.Persistent, error) {
	if b.form == scattered {
		return c.RecvInitView(b.view, source, tag)
	}
	return c.RecvInit(b.memory, source, tag)
}
