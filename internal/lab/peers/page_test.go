package peers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/bench"
)

func TestReasons(t *testing.T) {
	rs, err := ParseReasons(`# for those who write this
tcp/stream/8K/openmpi: a copy more than there had to be,
  see [the profile](performance/8k.txt)

tcp/burst/20ms/*/openmpi: the first frame waits
`)
	require.NoError(t, err)
	require.Len(t, rs, 2)
	assert.Equal(t, "a copy more than there had to be, see [the profile](performance/8k.txt)", rs.For("tcp/stream/8K/openmpi"))
	assert.Equal(t, "the first frame waits", rs.For("tcp/burst/20ms/64K/openmpi"))
	assert.Empty(t, rs.For("tcp/burst/1ms/64K/openmpi"))

	stale := rs.Stale([]Comparison{{Path: "tcp/stream/8K/openmpi", Verdict: Holds}, {Path: "tcp/burst/20ms/64K/openmpi", Verdict: Fails}, {Path: "tcp/burst/20ms/4K/openmpi", Verdict: Holds}})
	require.Len(t, stale, 1)
	assert.Equal(t, "tcp/stream/8K/openmpi", stale[0].Cells)
	assert.Empty(t, rs.Stale(nil), "what was not measured is not stale")

	for text, want := range map[string]string{
		"  more\n":                    "line 1: \"more\" goes on with nothing",
		"\ntcp/stream/8K: why\n":      "line 2:",
		"tcp/stream/8K/openmpi why":   "want cells and a reason",
		"tcp/stream/[/openmpi: why\n": "want cells and a reason",
	} {
		_, err := ParseReasons(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestPage(t *testing.T) {
	r := synthetic(tcp, stream, streamOf(8<<10), 6, map[string]float64{"strand": 8, "openmpi defaults": 6.4, "raw bbr": 4})
	r.Contenders = []Contender{{tcp, "openmpi", "defaults", "Open MPI 4: mpirun -x"}}
	r.Missing = []string{"--against mpich: there is no mpiexec.mpich here; on Debian: apt-get install libmpich-dev"}
	r.Notes = []string{"round 1,\n  tcp: x"}
	rs, err := ParseReasons("tcp/stream/8K/openmpi: why it is so\ntcp/stream/8K/raw: nothing needs this\n")
	require.NoError(t, err)
	page := r.Page(rs, "performance")
	for _, want := range []string{
		"| tcp/stream | 1 | 1 | 0 | 0 | no | 8K/openmpi: 0.80, aim 1.00 |",
		"| Strand | c1 |",
		"| tcp, openmpi defaults | Open MPI 4: mpirun -x |",
		"| not here | --against mpich: there is no mpiexec.mpich here; on Debian: apt-get install libmpich-dev |",
		"| size | Strand | ratio to raw | ratio to Open MPI | ratio to MPICH | processor, s a GB |\n|---|---|---|---|---|---|\n" +
			"| 8K | 1023 | 0.50 (0.50–0.50) | **✗** 0.80 (0.80–0.80) | – | 1.96 / 0.98 / 1.56 / – |",
		"| tcp/stream/8K/openmpi | **✗** 0.80 (0.80–0.80) | 1.00 | why it is so |",
		"whose cells no longer fall short:\n\n- tcp/stream/8K/raw: nothing needs this",
		"- round 1, tcp: x",
	} {
		assert.Contains(t, page, want)
	}
	assert.NotContains(t, page, "INVALID")
	assert.NotContains(t, page, ".svg", "one point is no picture")
	assert.Contains(t, r.Page(nil, "p"), "*no reason is given yet*")
}

// The page says that intervals are of 95 %. Those of fewer than six rounds are not, and are not shown.
func TestPageOfFewRounds(t *testing.T) {
	r := synthetic(tcp, stream, streamOf(8<<10), 5, map[string]float64{"strand": 8, "openmpi defaults": 6.4, "raw bbr": 4})
	assert.Contains(t, r.Page(nil, "performance"), "| 0.50 | ? 0.80 | – |")
	for _, l := range r.lines(&r.Tables[0]) {
		require.Len(t, l.Points, 1)
		assert.Zero(t, l.Points[0].Low+l.Points[0].High, l.Name)
	}
}

func TestPublish(t *testing.T) {
	f := Files{Page: filepath.Join(t.TempDir(), "PERFORMANCE.md")}
	require.NoError(t, f.Check())
	r := synthetic(tcp, pingpong, ping(8), 6, map[string]float64{"strand": 8, "openmpi defaults": 6, "raw bbr": 4})
	more := synthetic(tcp, pingpong, ping(1<<20), 6, map[string]float64{"strand": 80, "openmpi defaults": 60, "raw bbr": 40})
	r.Tables[0].Rows = append(r.Tables[0].Rows, more.Tables[0].Rows...)
	require.NoError(t, f.Publish(r))
	picture, err := os.ReadFile(filepath.Join(filepath.Dir(f.Page), "performance", "tcp-pingpong.svg"))
	require.NoError(t, err)
	for _, want := range []string{"<svg xmlns=", "Open MPI</text>", "raw</text>", ">64K</text>", "Strand&#39;s time over the peer&#39;s"} {
		assert.Contains(t, string(picture), want)
	}
	assert.Less(t, len(picture), 8<<10)
	page, err := os.ReadFile(f.Page)
	require.NoError(t, err)
	assert.Contains(t, string(page), "(performance/tcp-pingpong.svg)")

	back, err := Load(f.Results())
	require.NoError(t, err)
	assert.Equal(t, r, back)

	require.NoError(t, os.WriteFile(f.Reasons(), []byte("x\n"), 0o600))
	assert.ErrorContains(t, f.Check(), "reasons.txt: line 1")
	assert.ErrorContains(t, Files{Page: "page"}.Check(), "--out page: want a file .md")
	require.NoError(t, os.WriteFile(f.Results(), []byte(`{"format":0}`), 0o600))
	_, err = Load(f.Results())
	assert.ErrorContains(t, err, "format 0")
}

// Only what both have is compared, by the same contender, and only what is beyond chance is told.
func TestChanges(t *testing.T) {
	was := func(strand float64) *Report {
		return synthetic(tcp, pingpong, ping(8), 6, map[string]float64{"strand": strand, "openmpi defaults": 10, "raw bbr": 5})
	}
	changed, compared := Changes(was(8), was(6))
	assert.Equal(t, 1, compared)
	require.Len(t, changed, 1)
	assert.Equal(t, "tcp/pingpong/8/raw", changed[0].Path)
	assert.InDelta(t, 8./6, changed[0].Factor.Value, 1e-9)
	var b strings.Builder
	require.NoError(t, WriteChanges(&b, was(6), was(8)))
	assert.Contains(t, b.String(), "c1 beside c1: 1 cells compared, 1 changed beyond chance")
	assert.Contains(t, b.String(), "slower: 0.75 × (0.75–0.75); ratio 1.60, was 1.20")

	const elsewhere = "the machine, its kernel, Go or congestion control is not the same"
	assert.NotContains(t, b.String(), elsewhere)
	b.Reset()
	other := was(6)
	other.Machine.Kernel = "7.0"
	require.NoError(t, WriteChanges(&b, other, was(8)))
	assert.Contains(t, b.String(), elsewhere)

	changed, compared = Changes(was(8), was(8))
	assert.Equal(t, 1, compared)
	assert.Empty(t, changed)
	_, compared = Changes(synthetic(tcp, stream, streamOf(8), 6, nil), was(8))
	assert.Zero(t, compared)
}

// Rounds in which Strand failed might have been its slowest: what is left of them shows no change.
func TestNoChangeWhereStrandFailed(t *testing.T) {
	report := func(strand float64) *Report {
		return synthetic(tcp, pingpong, ping(8), 7, map[string]float64{"strand": strand, "raw bbr": 5})
	}
	for name, failing := range map[string]int{"now": 1, "then": 0} {
		reports := []*Report{report(8), report(6)}
		reports[failing].Tables[0].Rows[0].Times[strandKey][0] = failedTime
		changed, compared := Changes(reports[0], reports[1])
		assert.Equal(t, 1, compared, name)
		assert.Empty(t, changed, name)
	}
}

func TestPlan(t *testing.T) {
	all, err := Plan(false, nil)
	require.NoError(t, err)
	cells := map[string]int{}
	for i := range all {
		cells[all[i].Path()] = len(all[i].Rows)
	}
	assert.Equal(t, map[string]int{
		"sm/pingpong": 23, "sm/stream": 23, "sm/rate": 4, "sm/burst": 18, "sm/pairs": 6, "sm/depth": 27,
		"tcp/pingpong": 23, "tcp/stream": 23, "tcp/rate": 4, "tcp/burst": 24, "tcp/pairs": 6, "tcp/depth": 27,
	}, cells)
	some, err := Plan(true, []string{"sm", "tcp/depth"})
	require.NoError(t, err)
	assert.Len(t, some, 7)
	_, err = Plan(true, []string{"tcp/dept"})
	assert.ErrorContains(t, err, "--only tcp/dept: want sm or tcp, or one of their tables such as tcp/stream")
	assert.Equal(t, 6, Rounds(true))

	for _, t2 := range all {
		for _, r := range t2.Rows {
			o := orderOf(r.Cell)
			assert.LessOrEqual(t, time.Duration(o.Iters+o.Warmup)*o.Pause, 200*time.Millisecond)
		}
	}
	assert.Equal(t, "20ms/64K", (&Table{Name: burst}).label(bench.Cell{Pause: 20 * time.Millisecond, Size: 64 << 10}))
	assert.Equal(t, "4/8", (&Table{Name: pairs}).label(bench.Cell{Pairs: 4, Size: 8}))
	assert.Equal(t, "16/4K", (&Table{Name: depth}).label(bench.Cell{Window: 16, Size: 4 << 10}))
}

func TestGoesOn(t *testing.T) {
	old, fresh := synthetic(tcp, pingpong, ping(8), 3, nil), synthetic(tcp, pingpong, ping(8), 9, nil)
	require.NoError(t, old.GoesOnAs(fresh))
	assert.Equal(t, 9, old.Planned)
	fresh.Tables[0].Rows[0].Size = 16
	assert.ErrorContains(t, old.GoesOnAs(fresh), "the figures are of other cells")
	fresh.Machine.CPUs++
	assert.ErrorContains(t, old.GoesOnAs(fresh), "the figures are of another machine")
	fresh.Machine, fresh.Congestion = old.Machine, "bbr"
	assert.ErrorContains(t, old.GoesOnAs(fresh), "another kernel, memory, processors, Go or congestion control")
	fresh.Commit = "c2"
	assert.ErrorContains(t, old.GoesOnAs(fresh), "the figures are of c1, this is c2")
}

func TestFourDigits(t *testing.T) {
	for v, want := range map[float64]float64{0: 0, 1.23456: 1.235, 123456: 123500, 0.00012345: 0.0001235, 99999: 100000} {
		assert.InDelta(t, want, round4(v), want*1e-12)
	}
}

func TestBusy(t *testing.T) {
	assert.Equal(t, 10*tick, busy(strings.Fields("cpu 1 2 3 100 100 100 100 4 50")))
	assert.Zero(t, busy(nil))
	before := look{at: time.Unix(0, 0), all: time.Second, ours: time.Second}
	after := look{at: time.Unix(10, 0), all: 2 * time.Second, ours: time.Second}
	assert.Positive(t, after.others(before))
	after.ours = 3 * time.Second
	assert.Zero(t, after.others(before))
}

// What has no figures is no report, and is told apart from one before a page is made of it.
func TestLoadOfNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	for _, text := range []string{`{"format":1}`, `{"format":1,"rounds":[{}]}`, `{"format":1,"rounds":[{}],"tables":[{"transport":"tcp","name":"stream"}]}`} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := Load(file)
		assert.ErrorContains(t, err, "results.json: not what strand bench peers writes: it has no rounds", text)
	}
}

func TestNothingIsLeftWhereAPageCanNotBeWritten(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "page.md")
	require.NoError(t, os.Mkdir(page, 0o755)) // in the way
	require.Error(t, writeWhole(page, []byte("x")))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

// What lies beside a page is not the page's: two that are written at a time would take each other's halves for their own.
func TestAPageLeavesItsNeighboursAlone(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	beside := page + ".new"
	require.NoError(t, os.WriteFile(beside, []byte("another's"), 0o600))
	require.NoError(t, writeWhole(page, []byte("x")))
	text, err := os.ReadFile(beside)
	require.NoError(t, err)
	assert.Equal(t, "another's", string(text))
}
