package strand

import (
	"errors"
	"fmt"
	"sync"

	"github.com/strandmp/strand/pml"
)

// ErrStarted: a persistent operation was started before, and its request has not ended.
var ErrStarted = errors.New("the operation was started, and its request has not ended")

// ErrNoOperation: the operation to start is nil.
var ErrNoOperation = errors.New("no operation")

// A Persistent is a send or a receive that is described once and started any number of times
// (MPI 4.1, section 3.9). Each Start is an Isend, or an Irecv, of the same buffer, ranks and
// tag. The buffer is the caller's between the end of a request and the next Start. There is
// nothing to free. The Start of a nil Persistent is [ErrNoOperation].
type Persistent struct {
	begin func() (Request, error)
	mu    sync.Mutex
	last  pml.Request
}

// Start starts the operation. Its request is like any other: Wait, Test, WaitAll and so on end
// it. The error is [ErrStarted] if the request of the last Start has not ended; other errors are
// those of Isend and Irecv, as for a rank that is none. It may be called again after any of them.
func (p *Persistent) Start() (Request, error) {
	if p == nil || p.begin == nil {
		return Request{}, ErrNoOperation
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.Ended() {
		return Request{}, ErrStarted
	}
	r, err := p.begin()
	p.last = r.op
	return r, err
}

// StartAll starts the operations in their order and appends their requests to reqs
// (MPI_Startall). If one can not be started, those before it go on and have their requests in what is
// returned; the others are not started.
func StartAll(all []*Persistent, reqs []Request) ([]Request, error) {
	for i, p := range all {
		r, err := p.Start()
		if err != nil {
			return reqs, fmt.Errorf("operation %d of %d: %w", i, len(all), err)
		}
		reqs = append(reqs, r)
	}
	return reqs, nil
}

func (c *Comm) persistent(start func(*Comm, []byte, int, int) (Request, error), buf []byte, peer, tag int) (*Persistent, error) {
	if c == nil {
		return nil, ErrNilComm
	}
	return &Persistent{begin: func() (Request, error) { return start(c, buf, peer, tag) }}, nil
}

// SendInit describes what [Comm.Isend] starts (MPI_Send_init).
func (c *Comm) SendInit(buf []byte, dst, tag int) (*Persistent, error) {
	return c.persistent((*Comm).Isend, buf, dst, tag)
}

// SsendInit describes what [Comm.Issend] starts (MPI_Ssend_init).
func (c *Comm) SsendInit(buf []byte, dst, tag int) (*Persistent, error) {
	return c.persistent((*Comm).Issend, buf, dst, tag)
}

// BsendInit describes what [Comm.Ibsend] starts (MPI_Bsend_init).
func (c *Comm) BsendInit(buf []byte, dst, tag int) (*Persistent, error) {
	return c.persistent((*Comm).Ibsend, buf, dst, tag)
}

// RsendInit describes what [Comm.Irsend] starts (MPI_Rsend_init).
func (c *Comm) RsendInit(buf []byte, dst, tag int) (*Persistent, error) {
	return c.persistent((*Comm).Irsend, buf, dst, tag)
}

// RecvInit describes what [Comm.Irecv] starts (MPI_Recv_init).
func (c *Comm) RecvInit(buf []byte, src, tag int) (*Persistent, error) {
	return c.persistent((*Comm).Irecv, buf, src, tag)
}

// SendInit is [Comm.SendInit] of values.
func SendInit[T any](c *Comm, values []T, dst, tag int) (*Persistent, error) {
	return persistentValues(c, (*Comm).Isend, values, dst, tag)
}

// SsendInit is [Comm.SsendInit] of values.
func SsendInit[T any](c *Comm, values []T, dst, tag int) (*Persistent, error) {
	return persistentValues(c, (*Comm).Issend, values, dst, tag)
}

// BsendInit is [Comm.BsendInit] of values.
func BsendInit[T any](c *Comm, values []T, dst, tag int) (*Persistent, error) {
	return persistentValues(c, (*Comm).Ibsend, values, dst, tag)
}

// RsendInit is [Comm.RsendInit] of values.
func RsendInit[T any](c *Comm, values []T, dst, tag int) (*Persistent, error) {
	return persistentValues(c, (*Comm).Irsend, values, dst, tag)
}

// RecvInit is [Comm.RecvInit] into values.
func RecvInit[T any](c *Comm, values []T, src, tag int) (*Persistent, error) {
	v := ViewOf(values)
	if v.err != nil {
		return nil, v.err
	}
	return c.RecvInitView(v, src, tag)
}

func persistentValues[T any](c *Comm, start func(*Comm, []byte, int, int) (Request, error), values []T, peer, tag int) (*Persistent, error) {
	b, err := Bytes(values)
	if err != nil {
		return nil, err
	}
	return c.persistent(start, b, peer, tag)
}
