package bench

import (
	"context"
	"time"

	"github.com/strandmp/strand"
)

// Tags of the messages that are measured and of those that answer a window.
const (
	dataTag   = 100
	answerTag = 101
)

// traffic carries out orders between the two processes of a pair. Rank 0 sends
// first. The time is that of all iterations after the warm-up.
type traffic interface {
	run(ctx context.Context, o order) (time.Duration, error)
}

// strandTraffic is the traffic over a communicator of two.
type strandTraffic struct {
	comm   *strand.Comm
	buf    []byte
	answer [4]byte
	reqs   []strand.Request
	spent  spent // by the last order
}

// prepare makes room for what an order needs, so that nothing is allocated while
// the clock runs.
func (s *strandTraffic) prepare(o order) {
	if len(s.buf) < o.size {
		s.buf = pages(o.size)
	}
	if len(s.reqs) < o.window {
		s.reqs = make([]strand.Request, o.window)
	}
}

func (s *strandTraffic) run(ctx context.Context, o order) (time.Duration, error) {
	s.prepare(o)
	round := s.roundOf(o.workload)
	buf, reqs := s.buf[:o.size], s.reqs[:o.window]
	var err error
	s.spent, err = o.rounds(
		func() error { return s.comm.Barrier(ctx) },
		func() error { return round(ctx, buf, reqs) })
	return s.spent.exchange, err
}

// roundOf returns what this rank does in one iteration.
func (s *strandTraffic) roundOf(w Workload) func(context.Context, []byte, []strand.Request) error {
	first := s.comm.Rank() == 0
	switch {
	case w == PingPong && first:
		return s.ping
	case w == PingPong:
		return s.pong
	case first:
		return s.sendWindow
	}
	return s.receiveWindow
}

func (s *strandTraffic) ping(ctx context.Context, buf []byte, _ []strand.Request) error {
	if err := s.comm.Send(ctx, buf, 1, dataTag); err != nil {
		return err
	}
	_, err := s.comm.Recv(ctx, buf, 1, dataTag)
	return err
}

func (s *strandTraffic) pong(ctx context.Context, buf []byte, _ []strand.Request) error {
	if _, err := s.comm.Recv(ctx, buf, 0, dataTag); err != nil {
		return err
	}
	return s.comm.Send(ctx, buf, 0, dataTag)
}

func (s *strandTraffic) sendWindow(ctx context.Context, buf []byte, reqs []strand.Request) error {
	var err error
	for i := range reqs {
		if reqs[i], err = s.comm.Isend(buf, 1, dataTag); err != nil {
			return err
		}
	}
	if err := strand.WaitAll(ctx, reqs, nil); err != nil {
		return err
	}
	_, err = s.comm.Recv(ctx, s.answer[:], 1, answerTag)
	return err
}

// receiveWindow receives all messages into the same buffer, as the OSU programs
// do: what arrives is not looked at.
func (s *strandTraffic) receiveWindow(ctx context.Context, buf []byte, reqs []strand.Request) error {
	var err error
	for i := range reqs {
		if reqs[i], err = s.comm.Irecv(buf, 0, dataTag); err != nil {
			return err
		}
	}
	if err := strand.WaitAll(ctx, reqs, nil); err != nil {
		return err
	}
	return s.comm.Send(ctx, s.answer[:], 0, answerTag)
}

// pages returns a buffer whose memory is there already, not only promised.
func pages(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}
