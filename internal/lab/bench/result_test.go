package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// steadySample has the given time as its lower quartile and median.
func steadySample(us float64) []float64 { return []float64{us, us, us, us} }

func sampleResult(w Workload, times ...[]float64) *Result {
	c := Comparison{Cells: []Cell{{Workload: w, Pairs: 2, Window: 64, Size: 8}}, Blocks: 4}
	contenders := []Contender{{Name: strandName}, {Name: rawName, Variant: "cubic", About: "sockets"},
		{Name: rawName, Variant: "bbr", About: "other sockets"}, {Name: "openmpi", About: "Open MPI 4"}}
	s := newSamples(len(contenders), 1)
	for i, sample := range times {
		for _, us := range sample {
			s.add(i, 0, block{us, 2 * us})
		}
	}
	return c.result(contenders, s)
}

func TestRatios(t *testing.T) {
	r := sampleResult(PingPong, steadySample(6), steadySample(5), steadySample(4), steadySample(12))
	require.Len(t, r.Rows, 1)
	peers := r.Rows[0].Peers
	require.Len(t, peers, 2, "variants are one peer")
	assert.Equal(t, "bbr", peers[0].Variant, "the better one counts")
	assert.InDelta(t, 1.5, peers[0].Ratio, 1e-9)
	assert.InDelta(t, 0.5, peers[1].Ratio, 1e-9)

	rate := sampleResult(Rate, steadySample(6), steadySample(4), steadySample(5), steadySample(12))
	assert.Equal(t, "cubic", rate.Rows[0].Peers[0].Variant)
	assert.InDelta(t, 2, rate.Rows[0].Peers[1].Ratio, 1e-9, "more is better")
}

func TestRawDecidesWhetherTheRunIsValid(t *testing.T) {
	noisy := []float64{4, 4, 8, 8}
	r := sampleResult(PingPong, noisy, steadySample(5), steadySample(4), noisy)
	require.NotNil(t, r.Valid)
	assert.True(t, *r.Valid, "what varies is not raw")

	r = sampleResult(PingPong, steadySample(6), noisy, steadySample(7), steadySample(12))
	assert.False(t, *r.Valid)
	require.Len(t, r.Problems, 1)
	assert.Contains(t, r.Problems[0], "8 bytes: raw's median 6.00 µs is 50 % above its lower quartile 4.00 µs")

	c := Comparison{Cells: []Cell{{Workload: PingPong, Pairs: 1, Window: 1, Size: 8}}, Blocks: 4}
	s := newSamples(1, 1)
	s.add(0, 0, block{1, 2})
	assert.Nil(t, c.result([]Contender{{Name: strandName}}, s).Valid)
}

// A ratio of which nothing is known is none, however steady raw was.
func TestRatiosDecideWhetherTheRunIsValid(t *testing.T) {
	steady, wild := []float64{4, 4, 4, 4, 4, 4}, []float64{4, 1, 40, 5, 100, 4}
	r := sampleResult(PingPong, wild, steady, steady, steady)
	require.NotNil(t, r.Valid)
	assert.False(t, *r.Valid)
	assert.Equal(t, []string{"8 bytes: the ratio to raw may be anything from 0.25 to 25.00", "8 bytes: the ratio to openmpi may be anything from 0.25 to 25.00"}, r.Problems)
	r = sampleResult(PingPong, steady, steady, steady, []float64{4, 4, 6, 6, 4, 4})
	assert.True(t, *r.Valid)
}

func TestTable(t *testing.T) {
	var b strings.Builder
	r := sampleResult(PingPong, steadySample(6), steadySample(5), steadySample(4), steadySample(12))
	require.NoError(t, r.WriteTable(&b))
	assert.Equal(t, `# Strand pingpong: half round trip in µs
# 4 short blocks of each, alternating; lower quartile of their times, in brackets the median
# ratio: strand's time over the peer's, less is better
# processor: user and system time of all ranks, median; strand's, then the others'
# raw cubic: sockets
# raw bbr: other sockets
# openmpi: Open MPI 4
# of several variants the better one counts, for each size
  size       strand              raw  ratio  spread        openmpi  ratio  processor µs a message
     8  6.00 (6.00)  4.00 (4.00) bbr   1.50     0 %  12.00 (12.00)   0.50      12.0 / 8.00 / 24.0
# VALID: `+Criterion+"\n", b.String())

	b.Reset()
	r = sampleResult(Rate, steadySample(0.5), []float64{4, 4, 8, 8}, []float64{4, 4, 8, 9}, steadySample(2))
	require.NoError(t, r.WriteTable(&b))
	assert.Contains(t, b.String(), "thousand messages a second, windows of 64 messages")
	assert.Contains(t, b.String(), "2000.00 (2000.00)")
	assert.Contains(t, b.String(), "# INVALID: 8 bytes: raw's median")
}

// Raw sockets have no message of 0 bytes, and the table says what was measured in its place.
func TestTableOfEmptyMessages(t *testing.T) {
	for size, says := range map[int]bool{0: true, 8: false} {
		c := Comparison{Cells: []Cell{{Workload: PingPong, Pairs: 1, Window: 1, Size: size}}, Blocks: 4}
		s := newSamples(2, 1)
		s.add(0, 0, block{6, 12})
		s.add(1, 0, block{5, 10})
		var b strings.Builder
		require.NoError(t, c.result([]Contender{{Name: strandName}, {Name: rawName}}, s).WriteTable(&b))
		assert.Equal(t, says, strings.Contains(b.String(), "# size 0: raw sends one byte in its place\n"), b.String())
	}
}

// NetPIPE does not tell what processor time it took: that is not none.
func TestProcessorTimeThatIsNotKnown(t *testing.T) {
	c := Comparison{Cells: []Cell{{Workload: PingPong, Pairs: 1, Window: 1, Size: 8}}, Blocks: 4}
	s := newSamples(2, 1)
	s.add(0, 0, block{6, 12})
	s.add(1, 0, block{5, 0})
	var b strings.Builder
	require.NoError(t, c.result([]Contender{{Name: strandName}, {Name: "openmpi"}}, s).WriteTable(&b))
	assert.Contains(t, b.String(), " 12.0 / –\n")
}

// With enough blocks a ratio has an interval, which is that of rates where the ratio is.
func TestIntervals(t *testing.T) {
	ours, theirs := []float64{6, 6, 6, 6, 6, 9}, []float64{12, 12, 12, 8, 12, 12}
	r := sampleResult(PingPong, ours, ours, ours, theirs)
	assert.Equal(t, &[2]float64{0.5, 0.75}, r.Rows[0].Peers[1].Interval)
	r = sampleResult(Rate, ours, ours, ours, theirs)
	assert.InDeltaSlice(t, []float64{1 / 0.75, 2}, r.Rows[0].Peers[1].Interval[:], 1e-9)
	var b strings.Builder
	require.NoError(t, r.WriteTable(&b))
	assert.Contains(t, b.String(), "(1.33–2.00)")
	r = sampleResult(PingPong, ours[:5], ours[:5], ours[:5], theirs[:5])
	assert.Nil(t, r.Rows[0].Peers[1].Interval)
}

// Of pairs a table has messages and bytes a second of all together.
func TestTableOfPairs(t *testing.T) {
	var b strings.Builder
	r := sampleResult(Pairs, steadySample(0.5), steadySample(1), steadySample(2), steadySample(1))
	require.NoError(t, r.WriteTable(&b))
	assert.Contains(t, b.String(), `
  pairs  size  MB/s             strand                      raw  ratio  spread            openmpi  ratio  processor µs a message
      2     8  16.0  2000.00 (2000.00)  1000.00 (1000.00) cubic   2.00     0 %  1000.00 (1000.00)   2.00      1.00 / 2.00 / 2.00
`)
}

// A row says its window where they differ.
func TestTableOfDepths(t *testing.T) {
	c := Comparison{Cells: Cells(Stream, []int{1}, []int{1, 16}, 0, []int{1000}), Blocks: 4}
	s := newSamples(1, 2)
	s.add(0, 0, block{2, 4})
	s.add(0, 1, block{1, 3})
	var b strings.Builder
	r := c.result([]Contender{{Name: strandName}}, s)
	require.NoError(t, r.WriteTable(&b))
	assert.Zero(t, r.Window)
	assert.Contains(t, b.String(), `
  window  size             strand  processor s a GB
       1  1000    500.00 (500.00)              4.00
      16  1000  1000.00 (1000.00)              3.00
`)
}

func TestOSUColumns(t *testing.T) {
	for w, want := range map[Workload]string{
		PingPong: "# Strand ping-pong: half the round trip\n# Size           Latency (us)     Processor (us)\n1000                     2.00               3.00\n",
		Stream:   "# Strand stream: windows of 64 messages\n# Size       Window   Bandwidth (MB/s)     Processor (us)\n1000             64             500.00               3.00\n",
		Rate:     "# Strand message rate: windows of 64 messages\n# Size       Window               MB/s         Messages/s     Processor (us)\n1000             64             500.00             500000               3.00\n",
		Pairs: "# Strand pairs: 4 at once, all together, windows of 64 messages\n# Size       Window               MB/s         Messages/s     Processor (us)\n" +
			"1000             64             500.00             500000               3.00\n",
	} {
		var b strings.Builder
		cell := Cell{Workload: w, Pairs: 1, Window: 64, Size: 1000}
		d := &Direct{Cells: []Cell{cell}}
		o := Order{Cell: cell, Iters: 1}
		r := rowOf(o, time.Duration(2000*o.messages()))
		r.Processor = 3
		require.NoError(t, d.WriteHead(&b, 8))
		require.NoError(t, d.WriteRow(&b, r))
		assert.Equal(t, want, b.String())
	}
}
