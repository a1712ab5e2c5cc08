package borrowing_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/borrowing"
)

// What is read is a process's that has left the mark, this one's for instance.
func TestReader(t *testing.T) {
	mark := borrowing.NewMark()
	r := borrowing.Of(os.Getpid())
	require.Equal(t, os.Getpid(), r.Process())
	require.NoError(t, r.Try(mark.Address(), mark.Value()))
	from, to := []byte("what is lent"), make([]byte, 12)
	require.NoError(t, r.Read(to[:4], borrowing.Address(from), false))
	assert.Equal(t, "what\x00", string(to[:5]))
	require.NoError(t, r.Read(to[4:], borrowing.Address(from[4:]), true))
	assert.Equal(t, from, to)
}

// Nothing of another process is taken for what was meant, and who is gone is known.
func TestWhoIsNotMeant(t *testing.T) {
	mark := borrowing.NewMark()
	r := borrowing.Of(os.Getpid())
	assert.ErrorIs(t, r.Try(mark.Address(), mark.Value()+1), borrowing.ErrNotMeant)
	err := r.Read(make([]byte, 8), mark.Address(), true)
	assert.ErrorIs(t, err, borrowing.ErrNotMeant, "it is read again")
	assert.False(t, borrowing.Gone(err))

	require.NoError(t, r.Try(mark.Address(), mark.Value()))
	err = r.Read(make([]byte, 8), 8, true)
	assert.ErrorContains(t, err, "bad address")
	assert.False(t, borrowing.Gone(err))

	c := exec.CommandContext(t.Context(), "true")
	require.NoError(t, c.Run())
	gone := borrowing.Of(c.Process.Pid)
	err = gone.Try(mark.Address(), mark.Value())
	assert.ErrorContains(t, err, "reading the memory of process")
	assert.True(t, borrowing.Gone(err), "%v", err)
}
