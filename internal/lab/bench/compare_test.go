package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	window, pairs := 4, 1
	switch w {
	case PingPong, Exchange:
		window = 1
	case Pairs:
		pairs = 2
	}
	return Comparison{
		Setup: Setup{Against: against, Params: params, Program: program, Arguments: []string{asMember}, Dir: folder(t)},
		Cells: Cells(w, []int{pairs}, []int{window}, 0, []int{0, 8, 100_000}), Iters: 3, Warmup: 1, Blocks: MinBlocks,
	}
}

// folder is one that has been removed when the test has ended.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := NewFolder()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// Where the folder for temporary files is not there the error says which variable names it.
func TestFolderThatIsMissing(t *testing.T) {
	t.Setenv("TMPDIR", "/nowhere")
	_, err := NewFolder()
	require.ErrorContains(t, err, "a folder for sockets: stat /nowhere")
	require.ErrorContains(t, err, "TMPDIR is to name one that can be written")
}

func TestCompareWithRaw(t *testing.T) {
	leak.Check(t)
	for _, w := range []Workload{PingPong, Exchange, Stream, Rate, Pairs} {
		c := small(t, w, "raw")
		if w == Pairs {
			c.Cells = c.Cells[1:2] // four processes that spin take their time
		}
		var last, total int
		c.Progress = func(done, of int) { last, total = done, of }
		r, err := Compare(t.Context(), c)
		require.NoError(t, err)
		assert.Equal(t, total, last)
		require.Len(t, r.Rows, len(c.Cells))
		for i, row := range r.Rows {
			assert.Equal(t, c.Cells[i], row.Cell)
			assert.Equal(t, MinBlocks, row.Strand.Blocks)
			assert.Positive(t, row.Strand.Min)
			require.Len(t, row.Peers, 1)
			assert.Positive(t, row.Peers[0].Times.Min)
			assert.Positive(t, row.Peers[0].Ratio)
		}
		assert.NotNil(t, r.Valid)
	}
}

func TestCompareWithRawUDP(t *testing.T) {
	leak.Check(t)
	c := small(t, PingPong, "raw-udp")
	c.Cells = c.Cells[:2]
	c.Settings = []param.Setting{{Name: "btl", Text: "udp,self"}}
	r, err := Compare(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, r.Rows, 2)
	for _, row := range r.Rows {
		assert.Positive(t, row.Peers[0].Times.Min)
	}
	_, err = Compare(t.Context(), small(t, Stream, "raw-udp"))
	assert.ErrorContains(t, err, "pingpong")
	assert.ErrorContains(t, new(rawDatagrams).send(make([]byte, mostDatagram+1)), "does not fit")
}

func TestCompareWithMPI(t *testing.T) {
	for i := range implementations {
		m := &implementations[i]
		t.Run(m.name, func(t *testing.T) {
			if i > 0 {
				need.CI(t, "the first one shows all but how this one is started")
			}
			need.Program(t, m.start, m.headers)
			_, err := m.compile(t.Context(), t.TempDir())
			need.That(t, err == nil, "needs MPI's headers (on Debian: apt-get install %s): %v", m.headers, err)
			// One start of each variant, since starting takes longest: pairs, and what goes between two ranks between them.
			c := small(t, Pairs, m.name)
			c.Cells = c.Cells[1:2]
			ping := c.Cells[0]
			ping.Workload, ping.Window = PingPong, 1
			burst := c.Cells[0]
			burst.Workload, burst.Pause = Burst, time.Millisecond
			exchange := ping
			exchange.Workload = Exchange
			c.Cells = append(c.Cells, ping, burst, exchange)
			collective, err := CallCells(Calls(), []int{4}, []int{8})
			require.NoError(t, err)
			c.Cells = append(c.Cells, collective...)
			r, err := Compare(t.Context(), c)
			require.NoError(t, err)
			require.Len(t, r.Rows, 4+len(calls))
			for _, row := range r.Rows {
				assert.Positive(t, row.Peers[0].Times.Min, "%s %s", row.Workload, row.Call)
			}
			require.Len(t, r.Peers, 1, "none that spins beside others")
			assert.Contains(t, r.Peers[0].About, m.title)
			assert.Equal(t, "defaults", r.Peers[0].Variant)
			assert.Nil(t, r.Valid, "nobody can say")

			all, err := m.contenders(t.Context(), true, PingPong, t.TempDir())
			require.NoError(t, err)
			assert.Len(t, all, len(m.variants))
		})
	}
}

func TestCompareRefuses(t *testing.T) {
	for _, tc := range []struct {
		change func(*Comparison)
		want   string
	}{
		{func(c *Comparison) { c.Against = []string{"lam"} }, `--against "lam": want one or more of raw, raw-udp, openmpi, mpich`},
		{func(c *Comparison) { c.Against = []string{"raw", "raw"} }, `--against raw,raw: "raw" stands there twice`},
		{func(c *Comparison) { c.Cells[0].Workload = Coll }, "--against raw: it has no collective calls"},
		{func(c *Comparison) { c.Blocks = 3 }, "--blocks 3: want at least 4"},
	} {
		c := small(t, PingPong, "raw")
		tc.change(&c)
		_, err := Compare(t.Context(), c)
		assert.ErrorContains(t, err, tc.want)
	}
}

// The path of the folder for temporary files may be too long for a socket.
func TestFolderWithALongPath(t *testing.T) {
	leak.Check(t)
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", longestPath))
	require.NoError(t, os.Mkdir(dir, 0o700))
	t.Setenv("TMPDIR", dir)
	c := small(t, PingPong, "raw")
	c.Cells = c.Cells[:1]
	_, err := Compare(t.Context(), c)
	require.NoError(t, err)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
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

	c = small(t, PingPong, "raw") // this one goes away in the midst of its orders
	c.Settings = []param.Setting{{Name: "btl", Text: "self"}}
	_, err = Compare(t.Context(), c)
	assert.ErrorContains(t, err, "strand: pingpong of 0 bytes: EOF")
	assert.ErrorContains(t, err, "let another transport serve it (--btl)")
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

// stuck is a job that does not carry out its order.
type stuck struct{}

func (stuck) Close() error { return nil }
func (stuck) Run(ctx context.Context, _ Order) (Outcome, error) {
	<-ctx.Done()
	return Outcome{}, context.Cause(ctx)
}

// A contender that hangs ends the comparison, which names it.
func TestCompareEndsWhereAContenderHangs(t *testing.T) {
	leak.Check(t)
	c := small(t, PingPong)
	c.Timeout = time.Millisecond
	hanging := Contender{Name: "openmpi", Variant: "defaults", start: func(context.Context, int) (Job, error) { return stuck{}, nil }}
	err := c.measure(t.Context(), []Contender{hanging}, 0, 1, 1, newSamples(1, len(c.Cells)))
	assert.EqualError(t, err, "openmpi defaults: pingpong of 0 bytes: a block has not ended within --timeout 1ms")
}

func TestWithoutMPI(t *testing.T) {
	// A directory where the starter is and nothing else.
	bin := t.TempDir()
	m := &implementation{name: "x", title: "X", start: "start-x", compiler: "no-such-cc", headers: "libx-dev",
		netpipe: "NPx", fallback: "netpipe-x", variants: []variant{{name: "defaults"}}}
	t.Setenv("PATH", bin)
	install := func(name string) {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho X 1.2\n"), 0o700))
	}
	_, err := m.contenders(t.Context(), false, PingPong, t.TempDir())
	assert.ErrorContains(t, err, "--against x: there is no start-x here; on Debian: apt-get install libx-dev")

	install("start-x")
	_, err = m.contenders(t.Context(), false, PingPong, t.TempDir())
	assert.ErrorContains(t, err, "no-such-cc can not compile the peer")
	assert.ErrorContains(t, err, "apt-get install libx-dev, or netpipe-x for NetPIPE")

	install("NPx")
	all, err := m.contenders(t.Context(), false, PingPong, t.TempDir())
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Contains(t, all[0].About, "X 1.2 by NetPIPE")
	_, err = m.contenders(t.Context(), false, Rate, t.TempDir())
	assert.ErrorContains(t, err, "apt-get install libx-dev")
	assert.NotContains(t, err.Error(), "NetPIPE")
}

func TestDirect(t *testing.T) {
	for w, ranks := range map[Workload]int{PingPong: 2, Exchange: 2, Stream: 2, Rate: 2, Pairs: 4} {
		var rows []Row
		window := 8
		if w.single() {
			window = 1
		}
		strandtest.Run(t, ranks, func(ctx context.Context, world *strand.World) error {
			d := &Direct{Cells: Cells(w, []int{1}, []int{window}, 0, []int{0, 8, 300_000}), Iters: 5, Warmup: 1}
			return d.Run(ctx, world, func(r Row) error {
				rows = append(rows, r)
				return nil
			})
		})
		require.Len(t, rows, 3, "of rank 0 alone")
		for i, size := range []int{0, 8, 300_000} {
			assert.Equal(t, size, rows[i].Size)
			assert.Positive(t, rows[i].Time)
			assert.Equal(t, ranks/2, max(1, rows[i].Pairs))
		}
	}
}

// Collective calls are of all ranks, however many there are.
func TestDirectOfCalls(t *testing.T) {
	var rows []Row
	cells, err := CallCells(Calls(), []int{4}, []int{8, 800})
	require.NoError(t, err)
	strandtest.Run(t, 3, func(ctx context.Context, world *strand.World) error {
		d := &Direct{Cells: cells, Iters: 2, Warmup: 1}
		return d.Run(ctx, world, func(r Row) error {
			rows = append(rows, r)
			return nil
		})
	})
	require.Len(t, rows, 2*len(calls)-1, "a barrier has no size")
	for i, r := range rows {
		assert.Equal(t, cells[i].Call, r.Call)
		assert.Equal(t, cells[i].Size, r.Size)
		assert.Equal(t, 3, r.Ranks)
		assert.Positive(t, r.Time)
	}
}

func TestDirectNeedsTwo(t *testing.T) {
	for w, want := range map[Workload]string{PingPong: "between 2 ranks and this job has 1", Pairs: "pairs of ranks and this job has 1"} {
		strandtest.Run(t, 1, func(ctx context.Context, world *strand.World) error {
			d := &Direct{Cells: Cells(w, []int{1}, []int{1}, 0, []int{8})}
			assert.ErrorContains(t, d.Run(ctx, world, nil), want)
			return nil
		})
	}
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
