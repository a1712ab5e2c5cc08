package bench

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// steadySample has the given time as its lower quartile and median.
func steadySample(us float64) []float64 { return []float64{us, us, us, us} }

func sampleResult(w Workload, times ...[]float64) *Result {
	c := Comparison{Workload: w, Sizes: []int{8}, Window: 64, Blocks: 4}
	contenders := []contender{{name: strandName}, {name: rawName, variant: "cubic", about: "sockets"},
		{name: rawName, variant: "bbr", about: "other sockets"}, {name: "openmpi", about: "Open MPI 4"}}
	s := newSamples(len(contenders), 1)
	for i, sample := range times {
		for _, us := range sample {
			s.add(i, 0, us)
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

	c := Comparison{Workload: PingPong, Sizes: []int{8}, Blocks: 4}
	s := newSamples(1, 1)
	s.add(0, 0, 1)
	assert.Nil(t, c.result([]contender{{name: strandName}}, s).Valid)
}

func TestTable(t *testing.T) {
	var b strings.Builder
	r := sampleResult(PingPong, steadySample(6), steadySample(5), steadySample(4), steadySample(12))
	require.NoError(t, r.WriteTable(&b))
	assert.Equal(t, `# Strand pingpong: half round trip in µs
# 4 short blocks of each, alternating; lower quartile of their times, in brackets the median
# ratio: strand's time over the peer's, less is better
# raw: sockets
# raw: other sockets
# openmpi: Open MPI 4
# of several variants the better one counts, for each size
  size       strand              raw  ratio  spread        openmpi  ratio
     8  6.00 (6.00)  4.00 (4.00) bbr   1.50     0 %  12.00 (12.00)   0.50
# VALID: `+Criterion+"\n", b.String())

	b.Reset()
	r = sampleResult(Rate, steadySample(0.5), []float64{4, 4, 8, 8}, []float64{4, 4, 8, 9}, steadySample(2))
	require.NoError(t, r.WriteTable(&b))
	assert.Contains(t, b.String(), "thousand messages a second, windows of 64 messages")
	assert.Contains(t, b.String(), "2000.00 (2000.00)")
	assert.Contains(t, b.String(), "# INVALID: 8 bytes: raw's median")
}

func TestOSUColumns(t *testing.T) {
	for w, want := range map[Workload]string{
		PingPong: "# Strand ping-pong: half the round trip\n# Size           Latency (us)\n1000                     2.00\n",
		Stream:   "# Strand stream: windows of 64 messages\n# Size       Bandwidth (MB/s)\n1000                   500.00\n",
		Rate:     "# Strand message rate: windows of 64 messages\n# Size                   MB/s         Messages/s\n1000                   500.00             500000\n",
	} {
		var b strings.Builder
		d := &Direct{Workload: w, Window: 64}
		require.NoError(t, d.WriteHead(&b))
		require.NoError(t, d.WriteRow(&b, rowOf(order{size: 1000}, 2)))
		assert.Equal(t, want, b.String())
	}
}
