package strand

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// unanswered has four ranks of which the first of Create's list has all lists and has answered nobody, and returns that call, and what becomes
// of those of the others.
func unanswered(t *testing.T) (w []*World, first *creation, others []chan created) {
	w = fractions(t, 4)
	list := []int{0, 1, 2, 3}
	first, err := w[0].Comm().creation(list)
	require.NoError(t, err)
	others = make([]chan created, len(w))
	for rank := 1; rank < len(w); rank++ {
		others[rank] = make(chan created, 1)
		go func() {
			d, err := w[rank].Comm().Create(t.Context(), list)
			others[rank] <- created{d, err}
		}()
	}
	for i := range first.heard {
		require.NoError(t, first.compare(i))
	}
	return w, first, others
}

// success is the answer for those who get one.
func (x *creation) success() []byte {
	return encodeInts(append([]int{int(x.comm.world.nextID())}, x.numbers()...)...)
}

// The first of Create's list has answered one member when it fails. Where that one waits for another, which has no answer, it is told,
// and so is who makes a communicator of that one meanwhile.
func TestFirstOfCreateFailsBetweenAnswers(t *testing.T) {
	w, first, others := unanswered(t)
	for _, w := range w {
		defer w.drop()
	}
	first.tell(0, first.success())
	some := <-others[1]
	require.NoError(t, some.err)
	got := make(chan error)
	go func() { got <- some.comm.Bcast(t.Context(), make([]byte, 8), 2) }()
	for rank := 2; rank < len(w); rank++ {
		w[rank].pml.PeerFailed(0, "", errors.New("it is no more"))
		none := <-others[rank]
		require.ErrorIs(t, none.err, ErrPeerFailed)
	}
	require.ErrorIs(t, <-got, ErrOutOfStep)
	require.ErrorContains(t, some.comm.Barrier(t.Context()), "its Create has failed")
	require.NoError(t, some.comm.Free())
	w[1].pml.Locked(func() { require.Empty(t, w[1].comm.births) })
}

// A member hears of another one's call that has got no answer before it has its own answer.
func TestAnswerOfCreateComesLate(t *testing.T) {
	w, first, others := unanswered(t)
	for _, w := range w {
		defer w.drop()
	}
	w[3].pml.PeerFailed(0, "", errors.New("it is no more"))
	require.ErrorIs(t, (<-others[3]).err, ErrPeerFailed)
	// The notice has gone to 1 and 2 before this.
	for _, rank := range []int{1, 2} {
		require.NoError(t, w[3].Comm().Send(context.Background(), nil, rank, 1))
		_, err := w[rank].Comm().Recv(t.Context(), nil, 3, 1)
		require.NoError(t, err)
		for heard := false; !heard; {
			_, _, err := w[rank].Comm().Iprobe(3, 1) // makes progress
			require.NoError(t, err)
			w[rank].pml.Locked(func() { heard = len(w[rank].comm.unanswered) > 0 })
		}
	}
	answer := first.success()
	first.tell(0, answer)
	first.tell(1, answer)
	for _, rank := range []int{1, 2} {
		some := <-others[rank]
		require.NoError(t, some.err)
		require.ErrorIs(t, some.comm.Barrier(t.Context()), ErrOutOfStep)
	}
}
