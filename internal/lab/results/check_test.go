package results_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/results"
)

func TestCheck(t *testing.T) {
	require.NoError(t, synthetic().Check())
	run := func(r *results.Report) *results.Run { return &r.Cells[0].Runs[0] }
	for _, c := range []struct {
		want  string
		spoil func(r *results.Report)
	}{
		{"variants is 0: want 1 to 64", func(r *results.Report) { r.Variants = nil }},
		{"variants[1].name", func(r *results.Report) { r.Variants[1].Name = r.Variants[0].Name }},
		{"printable characters only", func(r *results.Report) { r.Variants[0].Name = "\x1b[2J" }},
		{"at most 256 bytes", func(r *results.Report) { r.Variants[0].BTL = strings.Repeat("x", 300) }},
		{`links.kind is "pigeons": want one of ["netem"`, func(r *results.Report) { r.Links.Kind = "pigeons" }},
		{"runs is 0: want 1", func(r *results.Report) { r.Runs = 0 }},
		{`cells[0].workload is "chess": want one of [pingpong farm hol burst nas]`, func(r *results.Report) { r.Cells[0].Workload = "chess" }},
		{"cells[0].ranks is 0: want 1", func(r *results.Report) { r.Cells[0].Ranks = 0 }},
		{"cells[0].params.size", func(r *results.Report) { r.Cells[0].Params["size"] = []any{1} }},
		{"cells[0].link: rate", func(r *results.Report) { r.Cells[0].Link.Rate = -1 }},
		{`cells[0].runs[0].variant is "udp": want the name of one of the variants`, func(r *results.Report) { run(r).Variant = "udp" }},
		{"cells[0].runs[0].metrics.run_time is 0: want more than 0, or an error", func(r *results.Report) { delete(run(r).Metrics, results.RunTime) }},
		{"cells[0].runs[0].metrics.throughput is +Inf", func(r *results.Report) { run(r).Metrics[results.Throughput] = math.Inf(1) }},
		{"cells[0].runs[3].exceeded is -1: want 0", func(r *results.Report) { r.Cells[0].Runs[3].Exceeded = -1 }},
		{"cells[0].runs[3].exceeded is 1e+300: want 0", func(r *results.Report) { r.Cells[0].Runs[3].Exceeded = 1e300 }},
		{"cells[0].runs[0].delays[0].quantiles[1].share", func(r *results.Report) { run(r).Delays[0].Quantiles[1].Share = 0 }},
		{"cells[0].runs[0].delays[0].quantiles[9].seconds", func(r *results.Report) { run(r).Delays[0].Quantiles[9].Seconds = 1 }},
		{"cells[0].runs[0].rails[0].peer is 4: want 0 to 3", func(r *results.Report) { run(r).Rails[0].Peer = 4 }},
		{"cells[0].runs[0].windows[0].samples[1].at", func(r *results.Report) { run(r).Windows[0].Samples[1].At = 0 }},
	} {
		t.Run(c.want, func(t *testing.T) {
			r := synthetic()
			c.spoil(r)
			assert.ErrorContains(t, r.Check(), c.want)
		})
	}
}

// Facts come from the ranks too.
func TestCheckFacts(t *testing.T) {
	require.NoError(t, results.CheckFacts(map[string]string{"stack": "user"}))
	require.ErrorContains(t, results.CheckFacts(map[string]string{"stack": "\x1b[31m"}), "facts.stack")
	many := map[string]string{}
	for i := range 1000 {
		many[strconv.Itoa(i)] = ""
	}
	require.ErrorContains(t, results.CheckFacts(many), "entries")
}
