package sm

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/sealed"
)

// Memory that a peer could take away, or that is not there, is not mapped.
func TestMemoryThatIsRefused(t *testing.T) {
	const size = page + 2*minRing
	for name, c := range map[string]struct {
		size      int64
		allocated int64
		seals     int
		want      string
	}{
		"as it should be": {size, size, sealed.Seals, ""},
		"not sealed":      {size, size, unix.F_SEAL_GROW, "not sealed"},
		"half there":      {size, size / 2, sealed.Seals, "are there"},
		"odd":             {size + page, size + page, sealed.Seals, "not a page and two rings"},
		"small":           {page, page, sealed.Seals, "not a page and two rings"},
		"none":            {0, 0, sealed.Seals, "not a page and two rings"},
	} {
		fd, err := unix.MemfdCreate("test", unix.MFD_ALLOW_SEALING|unix.MFD_CLOEXEC)
		require.NoError(t, err)
		require.NoError(t, unix.Ftruncate(fd, c.size))
		if c.allocated > 0 {
			require.NoError(t, unix.Fallocate(fd, 0, 0, c.allocated))
		}
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, c.seals)
		require.NoError(t, err)
		mem, err := takeSegment(fd)
		if c.want == "" {
			assert.NoError(t, err, name)
			assert.NoError(t, unix.Munmap(mem))
		} else {
			assert.ErrorContains(t, err, c.want, name)
		}
		unix.Close(fd)
	}
	_, err := takeSegment(-1)
	assert.ErrorIs(t, err, sealed.ErrUnsealed)
}

// A peer is not on this host if its address names no socket of this layout, or if that does not
// answer here.
func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"": "offers no shared memory",
		string([]byte{ours ^ bigEndian}) + "strand-sm-X": "its words have the other order of bytes",
		"\x01strand-sm-X":                           "has layout 1, ours ",
		string([]byte{ours}) + "other":              "malformed address",
		string([]byte{ours}) + "strand-sm-\x1b[31m": "malformed address",
	} {
		_, err := nameIn([]byte(address))
		assert.ErrorContains(t, err, want)
	}
	name, err := nameIn(append([]byte{ours}, "strand-sm-NOBODY"...))
	require.NoError(t, err)
	assert.ErrorContains(t, answers(name), "another host or in another network namespace")
}

// The rings of all of a rank's connections together stay within a bound, up to the ranks for
// which the smallest ring is too large for that.
func TestRingsOfManyRanks(t *testing.T) {
	for ranks, want := range map[int]int{2: 256 << 10, 16: 256 << 10, 17: 128 << 10, 32: 128 << 10, 64: 64 << 10, 128: 32 << 10, 1000: 32 << 10} {
		assert.Equal(t, want, shared(256<<10, ranks), "%d ranks", ranks)
		if ranks <= 128 {
			assert.LessOrEqual(t, want*(ranks-1), 4<<20, "%d ranks", ranks)
		}
	}
}

// Memory counts as a file: where none may be so large there is an error that says what to raise, and no signal.
func TestLimitOfTheSizeOfFiles(t *testing.T) {
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &before))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: page, Max: before.Max}))
	_, _, err := makeSegment(minRing)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &before))
	require.ErrorIs(t, err, unix.EFBIG)
	assert.Contains(t, remedyOf(err), "ulimit -f")
}
