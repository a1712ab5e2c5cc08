package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/strandtest"
)

// small is a comparison that says nothing and is over soon.
func small(t *testing.T, w Workload, against ...string) Comparison {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	registry := param.NewRegistry()
	strand.Declare(registry, btl.Default)
	params, err := registry.Resolve(param.Inputs{})
	require.NoError(t, err)
	return Comparison{
		Workload: w, Sizes: []int{0, 8, 100_000}, Iters: 3, Warmup: 1, Window: 4, Blocks: MinBlocks, Against: against,
		Params: params, Program: program, Arguments: []string{asMember},
	}
}

func TestCompareWithRaw(t *testing.T) {
	leak.Check(t)
	for _, w := range []Workload{PingPong, Stream, Rate} {
		c := small(t, w, "raw")
		var last, total int
		c.Progress = func(done, of int) { last, total = done, of }
		r, err := Compare(t.Context(), c)
		require.NoError(t, err)
		assert.Equal(t, total, last)
		require.Len(t, r.Rows, 3)
		for i, row := range r.Rows {
			assert.Equal(t, c.Sizes[i], row.Size)
			assert.Equal(t, MinBlocks, row.Strand.Blocks)
			assert.Positive(t, row.Strand.Min)
			require.Len(t, row.Peers, 1)
			assert.Positive(t, row.Peers[0].Times.Min)
			assert.Positive(t, row.Peers[0].Ratio)
		}
		assert.NotNil(t, r.Valid)
	}
}

func TestCompareWithPion(t *testing.T) {
	leak.Check(t)
	for _, w := range []Workload{PingPong, Stream} {
		c := small(t, w, "pion")
		c.Sizes = []int{8, 100_000}
		c.Settings = []param.Setting{{Name: "btl", Text: "sctp,self"}, {Name: "btl_sctp_stack", Text: "user"}}
		r, err := Compare(t.Context(), c)
		require.NoError(t, err)
		require.Len(t, r.Rows, 2)
		for _, row := range r.Rows {
			assert.Positive(t, row.Peers[0].Times.Min)
		}
		assert.Contains(t, r.Peers[0].About, "packets of 8192 bytes")
	}

	l := &pionLink{options: PionOptions{Buffer: 100}}
	assert.ErrorContains(t, l.send(make([]byte, 51)), "raise btl_sctp_rcvbuf")
}

func TestCompareWithMPI(t *testing.T) {
	for i := range implementations {
		m := &implementations[i]
		t.Run(m.name, func(t *testing.T) {
			need.Program(t, m.start, m.headers)
			_, err := m.compile(t.Context(), t.TempDir())
			need.That(t, err == nil, "needs MPI's headers (on Debian: apt-get install %s): %v", m.headers, err)
			for _, w := range []Workload{PingPong, Rate} {
				r, err := Compare(t.Context(), small(t, w, m.name))
				require.NoError(t, err)
				require.Len(t, r.Rows, 3)
				assert.Positive(t, r.Rows[0].Peers[0].Times.Min)
				assert.Contains(t, r.Peers[0].About, m.title)
				assert.Nil(t, r.Valid, "nobody can say")
			}
		})
	}
}

func TestCompareRefuses(t *testing.T) {
	for _, tc := range []struct {
		change func(*Comparison)
		want   string
	}{
		{func(c *Comparison) { c.Against = []string{"lam"} }, `--against "lam": want one or more of raw, pion, openmpi, mpich`},
		{func(c *Comparison) { c.Against = []string{"raw", "raw"} }, `--against raw,raw: "raw" stands there twice`},
		{func(c *Comparison) { c.Blocks = 3 }, "--blocks 3: want at least 4"},
	} {
		c := small(t, PingPong, "raw")
		tc.change(&c)
		_, err := Compare(t.Context(), c)
		assert.ErrorContains(t, err, tc.want)
	}
}

// A process that does not come, or goes away, is named with what it said.
func TestCompareTellsWhatFailed(t *testing.T) {
	leak.Check(t)
	c := small(t, PingPong, "raw")
	c.Program, c.Arguments = "sh", []string{"-c", "echo this is why >&2; exit 3"}
	_, err := Compare(t.Context(), c)
	assert.ErrorContains(t, err, "strand: did not start")
	assert.ErrorContains(t, err, "exited with status 3")
	assert.ErrorContains(t, err, "this is why")

	c = small(t, PingPong, "raw")
	c.Settings = []param.Setting{{Name: "btl", Text: "nosuch"}}
	_, err = Compare(t.Context(), c)
	assert.ErrorContains(t, err, `there is no transport "nosuch"`)
}

func TestCompareEndsWithItsContext(t *testing.T) {
	leak.Check(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	c := small(t, PingPong, "raw")
	enough := errors.New("enough")
	c.Progress = func(done, _ int) {
		if done == 5 {
			cancel(enough)
		}
	}
	_, err := Compare(ctx, c)
	assert.ErrorIs(t, err, enough)
}

func TestWithoutMPI(t *testing.T) {
	// A directory where the starter is and nothing else.
	bin := t.TempDir()
	m := &implementation{name: "x", title: "X", start: "start-x", compiler: "no-such-cc", headers: "libx-dev",
		netpipe: "NPx", fallback: "netpipe-x"}
	t.Setenv("PATH", bin)
	install := func(name string) {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho X 1.2\n"), 0o700))
	}
	_, err := m.contender(t.Context(), PingPong, t.TempDir())
	assert.ErrorContains(t, err, "--against x: there is no start-x here; on Debian: apt-get install libx-dev")

	install("start-x")
	_, err = m.contender(t.Context(), PingPong, t.TempDir())
	assert.ErrorContains(t, err, "no-such-cc can not compile the peer")
	assert.ErrorContains(t, err, "apt-get install libx-dev, or netpipe-x for NetPIPE")

	install("NPx")
	c, err := m.contender(t.Context(), PingPong, t.TempDir())
	require.NoError(t, err)
	assert.Contains(t, c.about, "X 1.2 by NetPIPE")
	_, err = m.contender(t.Context(), Rate, t.TempDir())
	assert.ErrorContains(t, err, "apt-get install libx-dev")
	assert.NotContains(t, err.Error(), "NetPIPE")
}

func TestDirect(t *testing.T) {
	for _, w := range []Workload{PingPong, Stream, Rate} {
		var rows []Row
		strandtest.Run(t, 2, func(ctx context.Context, world *strand.World) error {
			d := &Direct{Workload: w, Sizes: []int{0, 8, 300_000}, Iters: 5, Warmup: 1, Window: 8}
			return d.Run(ctx, world, func(r Row) error {
				rows = append(rows, r)
				return nil
			})
		})
		require.Len(t, rows, 3, "of rank 0 alone")
		for i, size := range []int{0, 8, 300_000} {
			assert.Equal(t, size, rows[i].Size)
			assert.Positive(t, rows[i].Time)
		}
	}
}

func TestDirectNeedsTwo(t *testing.T) {
	strandtest.Run(t, 1, func(ctx context.Context, w *strand.World) error {
		d := &Direct{Workload: PingPong, Sizes: []int{8}}
		assert.ErrorContains(t, d.Run(ctx, w, nil), "between 2 ranks and this job has 1")
		return nil
	})
}

func TestSocketOptionsAreThoseOfTCP(t *testing.T) {
	c := small(t, PingPong)
	params, err := c.Params.With(
		param.Setting{Name: "btl_tcp_sndbuf", Text: "1M"}, param.Setting{Name: "btl_tcp_rcvbuf", Text: "2M"},
		param.Setting{Name: "btl_tcp_nodelay", Text: "false"}, param.Setting{Name: "btl_tcp_congestion", Text: "reno"})
	require.NoError(t, err)
	options, err := socketOptions(params)
	require.NoError(t, err)
	assert.Equal(t, SocketOptions{Congestion: "reno", SendBuffer: 1 << 20, ReceiveBuffer: 2 << 20, NagleAlgorithm: true}, options[0])
	assert.Equal(t, "two spinning sockets, congestion control reno, send buffer 1048576, receive buffer 2097152", options[0].describe())
	for _, o := range options[1:] {
		assert.NotEqual(t, "reno", o.Congestion)
		assert.Equal(t, 1<<20, o.SendBuffer)
	}
}

func TestBadMember(t *testing.T) {
	assert.ErrorContains(t, Member(t.Context(), "{"), "not what strand bench writes")
}
