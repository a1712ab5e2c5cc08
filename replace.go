package strand

import (
	"context"
	"errors"
	"sync"

	"github.com/strandmp/strand/internal/given"
)

// SendrecvReplace is [Comm.Sendrecv] of one buffer: what is received takes the place of what was
// sent (MPI_Sendrecv_replace). It goes through memory of the library's, which costs a copy.
//
// If the error is not nil, buf is as it was, unless a message was longer than buf: then buf has
// its beginning.
func (c *Comm) SendrecvReplace(ctx context.Context, buf []byte, dst, sendTag, src, recvTag int) (Status, error) {
	return c.replace(ctx, View{memory: buf}, dst, sendTag, src, recvTag)
}

// SendrecvReplaceView is [Comm.SendrecvReplace] of a view. The layout picks no value twice.
func (c *Comm) SendrecvReplaceView(ctx context.Context, v View, dst, sendTag, src, recvTag int) (Status, error) {
	given.Context(ctx)
	if err := v.receivable("SendrecvReplaceView"); err != nil {
		return Status{}, err
	}
	return c.replace(ctx, v, dst, sendTag, src, recvTag)
}

// replace is both, of a view that can be received.
func (c *Comm) replace(ctx context.Context, v View, dst, sendTag, src, recvTag int) (Status, error) {
	given.Context(ctx)
	if c == nil {
		return Status{}, ErrNilComm
	}
	room := borrow(v.Size())
	defer giveBack(room)
	// A receive whose context has ended has left its buffer: so it can be given back.
	st, err := c.SendrecvView(ctx, v, dst, sendTag, View{memory: *room, needs: v.needs}, src, recvTag)
	if err == nil || errors.Is(err, ErrTruncated) {
		_, _ = v.Unpack((*room)[:st.Count]) // it can be received
	} // else the send may go on, from v, though a message has come
	return st, err
}

// SendrecvReplace is [Comm.SendrecvReplace] of values.
func SendrecvReplace[T any](ctx context.Context, c *Comm, values []T, dst, sendTag, src, recvTag int) (int, Status, error) {
	given.Context(ctx)
	v := ViewOf(values)
	if v.err != nil {
		return 0, Status{}, v.err
	}
	st, err := c.replace(ctx, v, dst, sendTag, src, recvTag)
	return Count[T](st), st, err
}

// rooms are buffers of calls that are over. The collector takes those that nobody wants.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// borrow returns a buffer of n bytes.
func borrow(n int) *[]byte {
	room := rooms.Get().(*[]byte)
	if cap(*room) < n {
		*room = make([]byte, n)
	}
	*room = (*room)[:n]
	return room
}

func giveBack(room *[]byte) { rooms.Put(room) }
