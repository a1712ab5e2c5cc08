package bench

import (
	"context"

	"github.com/strandmp/strand"
)

// Tags of the messages that are measured and of those that answer a window.
const (
	dataTag   = 100
	answerTag = 101
)

// traffic carries out orders between the processes of a job. Of n ranks the first half sends
// first, each to the rank n/2 after it.
type traffic interface {
	run(ctx context.Context, o Order) (spent, error)
}

// strandTraffic is the traffic over a communicator.
type strandTraffic struct {
	comm    *strand.Comm
	first   bool
	peer    int
	buf     []byte
	in      []byte // of an exchange
	answer  [4]byte
	reqs    []strand.Request
	calls   collective
	settled bool // the calls before the first that is measured were made
}

// settlingCalls are more than coll_shared_from is by default: ranks make those that follow as they make all others.
const settlingCalls = 130

func newStrandTraffic(c *strand.Comm) *strandTraffic {
	pairs := c.Size() / 2
	return &strandTraffic{comm: c, first: c.Rank() < pairs, peer: (c.Rank() + pairs) % c.Size()}
}

// prepare makes room for what an order needs, so that nothing is allocated while
// the clock runs.
func (s *strandTraffic) prepare(o Order) {
	if len(s.buf) < o.Size {
		s.buf = pages(o.Size)
	}
	if o.Workload == Exchange && len(s.in) < o.Size {
		s.in = pages(o.Size)
	}
	if len(s.reqs) < o.Window {
		s.reqs = make([]strand.Request, o.Window)
	}
}

func (s *strandTraffic) run(ctx context.Context, o Order) (spent, error) {
	if o.Workload == Coll {
		s.calls.comm = s.comm
		if err := s.settle(ctx); err != nil {
			return spent{}, err
		}
		call := s.calls.roundOf(o)
		return o.rounds(func() error { return s.comm.Barrier(ctx) }, func() error { return call(ctx) })
	}
	s.prepare(o)
	round := s.roundOf(o.Workload)
	buf, reqs := s.buf[:o.Size], s.reqs[:o.Window]
	return o.rounds(
		func() error { return s.comm.Barrier(ctx) },
		func() error { return round(ctx, buf, reqs) })
}

// settle makes the calls that come before the first that is measured.
func (s *strandTraffic) settle(ctx context.Context) error {
	if s.settled {
		return nil
	}
	s.settled = true
	for range settlingCalls {
		if err := s.comm.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// roundOf returns what this rank does in one iteration.
func (s *strandTraffic) roundOf(w Workload) func(context.Context, []byte, []strand.Request) error {
	switch {
	case w == PingPong && s.first:
		return s.ping
	case w == PingPong:
		return s.pong
	case w == Exchange:
		return s.exchange
	case s.first:
		return s.sendWindow
	}
	return s.receiveWindow
}

func (s *strandTraffic) ping(ctx context.Context, buf []byte, _ []strand.Request) error {
	if err := s.comm.Send(ctx, buf, s.peer, dataTag); err != nil {
		return err
	}
	_, err := s.comm.Recv(ctx, buf, s.peer, dataTag)
	return err
}

func (s *strandTraffic) pong(ctx context.Context, buf []byte, _ []strand.Request) error {
	if _, err := s.comm.Recv(ctx, buf, s.peer, dataTag); err != nil {
		return err
	}
	return s.comm.Send(ctx, buf, s.peer, dataTag)
}

func (s *strandTraffic) exchange(ctx context.Context, buf []byte, _ []strand.Request) error {
	_, err := s.comm.Sendrecv(ctx, buf, s.peer, dataTag, s.in[:len(buf)], s.peer, dataTag)
	return err
}

func (s *strandTraffic) sendWindow(ctx context.Context, buf []byte, reqs []strand.Request) error {
	var err error
	for i := range reqs {
		if reqs[i], err = s.comm.Isend(buf, s.peer, dataTag); err != nil {
			return err
		}
	}
	if err := strand.WaitAll(ctx, reqs, nil); err != nil {
		return err
	}
	_, err = s.comm.Recv(ctx, s.answer[:], s.peer, answerTag)
	return err
}

// receiveWindow receives all messages into the same buffer, as the OSU programs
// do: what arrives is not looked at.
func (s *strandTraffic) receiveWindow(ctx context.Context, buf []byte, reqs []strand.Request) error {
	var err error
	for i := range reqs {
		if reqs[i], err = s.comm.Irecv(buf, s.peer, dataTag); err != nil {
			return err
		}
	}
	if err := strand.WaitAll(ctx, reqs, nil); err != nil {
		return err
	}
	return s.comm.Send(ctx, s.answer[:], s.peer, answerTag)
}

// pages returns a buffer whose memory is there already, not only promised.
func pages(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}
