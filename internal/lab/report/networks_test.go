package report_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/report"
	"github.com/strandmp/strand/internal/lab/results"
)

// Tables tell cells apart by their networks; page and Markdown say what each has carried, and
// when it was down.
func TestSeveralNetworks(t *testing.T) {
	m := newMaker(1, 6)
	params := map[string]any{"size": 30_000.0}
	m.cell(results.Farm, params, 2, 0, 2)
	m.cell(results.Farm, params, 2, 0, 1)
	link := lossy(0)
	down := emulate.Schedule{Outages: []emulate.Outage{{At: time.Second, For: 500 * time.Millisecond}}, Every: 2 * time.Second}
	slow := *link
	slow.Rate = 100 * emulate.Mbit
	m.r.Cells[0].Networks = []emulate.Network{{Name: "main", Link: *link}}
	m.r.Cells[1].Networks = []emulate.Network{{Name: "main", Link: *link, Down: down}, {Name: "spare", Link: slow}}
	for i := range m.r.Cells {
		for j := range m.r.Cells[i].Runs {
			n := &results.Network{Counters: emulate.Counters{DeliveredBytes: 4e6}}
			for k, net := range m.r.Cells[i].Networks {
				part := results.NetworkPart{Name: net.Name, Seconds: 3, Down: net.Down.Until(3 * time.Second)}
				part.DeliveredBytes = []uint64{3e6, 1e6}[k]
				part.Cut = uint64(7 * len(part.Down))
				n.Networks = append(n.Networks, part)
			}
			m.r.Cells[i].Runs[j].Network = n
		}
	}
	require.NoError(t, m.r.Check())
	var table, page, markdown bytes.Buffer
	require.NoError(t, report.WriteTable(&table, m.r))
	assert.Regexp(t, "networks +network main +network spare +transport", table.String())
	assert.Contains(t, table.String(), "down at 1s for 500ms, again every 2s")
	assert.Contains(t, table.String(), "rate 100mbit")
	require.NoError(t, report.WriteMarkdown(&markdown, m.r, nil))
	require.NoError(t, report.WritePage(&page, m.r, nil))
	for name, text := range map[string]string{"Markdown": markdown.String(), "page": page.String()} {
		assert.Contains(t, text, "What each of several networks carried", name)
		for _, want := range []string{"3.00 MB", "75.0 %", "1.00 MB", "25.0 %", "1.00 s to 1.50 s of 3.00 s"} {
			assert.Contains(t, text, want, name)
		}
	}

	one := newMaker(1, 6)
	one.cell(results.Farm, params, 2, 0, 2)
	page.Reset()
	require.NoError(t, report.WritePage(&page, one.r, nil))
	assert.NotContains(t, page.String(), "several networks")
}
