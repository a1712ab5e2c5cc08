package strand

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/pml"
)

// A courier whose call ended between a receive and its wait knows nothing of it in the next call.
func TestCourierForgetsACallThatFailed(t *testing.T) {
	w, err := Init(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	k := new(courier)
	k.begin(w.Comm(), "Allgather", 1)
	require.NoError(t, k.Recv(make([]byte, 7), 0))
	k.end(errors.New("the send after it was refused"))

	k.begin(w.Comm(), "Bcast", 2)
	got := make([]byte, 3)
	require.NoError(t, k.Recv(got, 0))
	require.NoError(t, k.Send([]byte("abc"), 0))
	require.NoError(t, k.Wait(t.Context()))
	require.Equal(t, "abc", string(got))
	k.end(nil)
}

// A member may have left the call that made a communicator since another process has, which is no member.
func TestWhoIsNoMemberIsMissedToo(t *testing.T) {
	w, err := Init(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	c, err := w.Comm().Dup(t.Context())
	require.NoError(t, err)
	w.pml.Locked(func() { c.isMissing(&CollectiveError{Rank: 5, WorldRank: 5, Call: "Split", Cause: "it had no time"}) })
	require.ErrorIs(t, c.Barrier(t.Context()), ErrOutOfStep)
	_, err = c.Agree(t.Context(), 1)
	require.ErrorIs(t, err, ErrOutOfStep)
}

// A communicator that was freed is known until those are that were made of it, and no longer.
func TestWhatWasFreedIsForgotten(t *testing.T) {
	w, err := Init(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	c, err := w.Comm().Dup(t.Context())
	require.NoError(t, err)
	d, err := c.Dup(t.Context())
	require.NoError(t, err)
	require.NoError(t, c.Free())
	require.Len(t, w.comm.made, 1)
	require.NoError(t, d.Free())
	require.Empty(t, w.comm.made)
	require.Len(t, w.offices.comms, 1, "the world's own")
}

// A failure that is told is that of a member by its rank here, though the error may name its rank elsewhere.
func TestWhoFailedIsToldByItsRankHere(t *testing.T) {
	w, err := Init(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	c := w.Comm()
	c.tellLeft("Bcast", 1, &PeerFailedError{Rank: 7, WorldRank: 0, Cause: errors.New("it is gone")})
	require.NotNil(t, c.leaving.error)
	require.Equal(t, 0, c.leaving.error.Failed.Rank)
}

// The calls of a communicator may be more than an int counts that has 32 bits.
func TestLeavingOneOfVeryManyCalls(t *testing.T) {
	w, err := Init(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	c := w.Comm()
	c.turn.calls = math.MaxInt32
	require.NoError(t, c.Barrier(t.Context()))
	require.NoError(t, c.Revoke())
	require.NotNil(t, c.leaving.error)
	require.True(t, c.leaving.covers(c.turn.calls))
	require.False(t, c.leaving.covers(c.turn.calls-1))
}

// An agreement that makes nothing takes no id: those between ids that were freed would be remembered for ever.
func TestAgreeTakesNoID(t *testing.T) {
	w, err := Init(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	ids := w.counter.Load()
	_, err = w.Comm().Agree(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, ids, w.counter.Load())
}

// Notices for communicators that are never made here do not stand in the way of later ones.
func TestEarlyNoticesAreBounded(t *testing.T) {
	w, err := Init(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	last := uint64(0)
	w.pml.Locked(func() {
		for i := range 3 * w.mostEarly() {
			last = pml.ContextID(0, uint32(1000+i))
			(*listener)(w).Notice(0, notice(noticeFreed, last))
		}
	})
	require.Len(t, w.offices.early, w.mostEarly())
	require.Equal(t, last, w.offices.early[w.mostEarly()-1].id)
}
