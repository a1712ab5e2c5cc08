package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/compare/report"
	"github.com/strandmp/strand/internal/compare/results"
	"github.com/strandmp/strand/internal/emulate"
)

func page(t *testing.T, r, baseline *results.Report) string {
	t.Helper()
	require.NoError(t, r.Check())
	var b bytes.Buffer
	require.NoError(t, report.WritePage(&b, r, baseline))
	return b.String()
}

// screenshots in the environment names a folder for pictures of the page, to be looked at.
const screenshots = "STRANDTEST_SCREENSHOTS"

func TestPageInABrowser(t *testing.T) {
	b := startBrowser(t)
	dir := t.TempDir()

	// That what must not be there would be seen.
	bad := filepath.Join(dir, "bad.html")
	require.NoError(t, os.WriteFile(bad, []byte(`<img src="http://192.0.2.1/x.png"><script>console.error("hello"); nothing()</script>`), 0o600))
	console, requests := b.open(bad, 1280, 900)
	require.Contains(t, strings.Join(console, "\n"), "hello")
	require.Contains(t, strings.Join(console, "\n"), "ReferenceError")
	require.Equal(t, []string{"http://192.0.2.1/x.png"}, requests)

	path := filepath.Join(dir, "report.html")
	require.NoError(t, os.WriteFile(path, []byte(page(t, hostile(), synthetic())), 0o600))
	for _, screen := range []struct {
		name          string
		width, height int
	}{{"desk", 1280, 900}, {"telephone", 390, 844}} {
		console, requests := b.open(path, screen.width, screen.height)
		assert.Empty(t, console, screen.name)
		assert.Empty(t, requests, screen.name)
		var width, plots int
		var wrong []string
		b.evaluate("document.documentElement.scrollWidth", &width)
		assert.LessOrEqual(t, width, screen.width, "the page must not move sideways")
		b.evaluate("document.querySelectorAll('figure svg').length", &plots)
		assert.Greater(t, plots, 5)
		b.evaluate(`[...document.querySelectorAll('figure svg text')].filter(text => {
			const frame = text.closest('svg').getBoundingClientRect(), box = text.getBoundingClientRect();
			return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1 || Math.min(box.height, box.width) < 5;
		}).map(text => text.textContent + " in " + text.closest('figure').innerText)`, &wrong)
		assert.Empty(t, wrong, "texts that stick out of their plots, or are too small to read")
		if folder := os.Getenv(screenshots); folder != "" {
			require.NoError(t, os.WriteFile(bad, []byte(page(t, synthetic(), synthetic())), 0o600))
			b.open(bad, screen.width, screen.height)
			b.screenshot(filepath.Join(folder, screen.name), screen.width)
		}
	}
}

const script = `<script>console.error("hello")</script><img src=x onerror=alert(1)>`

// hostile is a report with markup wherever there may be text.
func hostile() *results.Report {
	r := synthetic()
	old, name := r.Variants[1].Name, "sctp"+script
	r.Variants[1].Name = name
	r.Variants[1].Facts[script] = script
	r.Variants[0].Params["btl_tcp_congestion"] = `" onmouseover="alert(1)`
	r.Variants[3].Unable = script
	r.Command = append(r.Command, script, "'; rm -rf /")
	r.Machine.CPU, r.Links.Why = script, "</style>"+script
	for i := range r.Cells {
		r.Cells[i].Params["note"] = script
		if i == 0 {
			r.Cells[i].Params["note"] = "</svg>" + script // so that it is in captions too
		}
		for j := range r.Cells[i].Runs {
			run := &r.Cells[i].Runs[j]
			if run.Variant == old {
				run.Variant = name
			}
			if run.Error != "" {
				run.Error = script
			}
		}
	}
	return r
}

func TestMarkupInResultsIsText(t *testing.T) {
	text := page(t, hostile(), hostile())
	for _, bad := range []string{"<script", "<img", `"alert`, "</style>" + script[:1]} {
		at := strings.Index(text, bad)
		assert.Negative(t, at, "%.100s", text[max(0, at):])
	}
	assert.Equal(t, 1, strings.Count(text, "</style>"))
	assert.Greater(t, strings.Count(text, "&lt;script&gt;"), 20)
}

// Plots are XML inside the page: each must be well formed by itself.
func TestPlotsAreWellFormed(t *testing.T) {
	text := page(t, hostile(), nil)
	plots := strings.Split(text, "<svg ")[1:]
	require.NotEmpty(t, plots)
	for _, p := range plots {
		body, _, found := strings.Cut(p, "</svg>")
		require.True(t, found)
		d := xml.NewDecoder(strings.NewReader("<svg " + body + "</svg>"))
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
		}
	}
	assert.Equal(t, strings.Count(text, "<figure>"), strings.Count(text, `role="img" aria-label="`), "every plot is told in words too")
}

// What a machine was too slow for in one cell is not lost among others that went well.
func TestMachineThatWasTooSlow(t *testing.T) {
	const notice = "The machine was too slow for the emulated network in 1 of 15 cells"
	r := synthetic()
	var table bytes.Buffer
	require.NoError(t, report.WriteTable(&table, r))
	require.NotContains(t, table.String(), "too slow")
	run := &r.Cells[0].Runs[0] // of tcp; there are six
	run.Network.Spoilt = 90
	for _, other := range r.Cells[0].Runs {
		if other.Variant == tcp {
			other.Network.Sent = 20_000
		}
	}
	r.Cells[1].Runs[0].Network.Sent = 1e9
	require.NoError(t, report.WriteTable(&table, r))
	assert.Contains(t, table.String(), "machine too slow: 90 of 120000 frames lost that should not have been")
	text := page(t, r, nil)
	assert.Contains(t, text, notice)
	assert.Contains(t, text, "machine too slow: 90 of 120000")
}

// Only our own links play the same chances again.
func TestPageSaysWhichNetworksHaveTheSameSeed(t *testing.T) {
	r := synthetic()
	assert.Contains(t, page(t, r, nil), "have the same seed")
	for _, kind := range []results.LinkKind{results.Netem, results.Loopback, results.Real} {
		r.Links.Kind = kind
		assert.NotContains(t, page(t, r, nil), "have the same seed", kind)
	}
}

// Of runs that failed nothing is counted, and what is not told is not 0.
func TestCounters(t *testing.T) {
	r := synthetic()
	r.Cells = r.Cells[:1]
	sent := []uint64{10, 20, 30}
	r.Cells[0].Runs = nil
	for i, n := range append(sent, 1000) {
		run := results.Run{Variant: tcp, Round: i, Metrics: map[string]float64{results.RunTime: 1}}
		run.Network = &results.Network{Counters: emulate.Counters{Sent: n}}
		run.Rails = []results.Rail{{Peer: 1, Retransmissions: n, TimeoutsUnknown: true}}
		if i == len(sent) {
			run.Error, run.Metrics = "too late", nil
		}
		r.Cells[0].Runs = append(r.Cells[0].Runs, run)
	}
	var b bytes.Buffer
	require.NoError(t, report.WriteMarkdown(&b, r, nil))
	assert.Contains(t, b.String(), "| tcp | 20 | 0 % | 0 |  |  | 20 | – |")
}

// 0 has no place on a logarithmic axis, be it a value's or where an interval begins.
func TestZeroesAreDrawn(t *testing.T) {
	for _, values := range [][]float64{{0, 1, 1, 100, 100}, {0, 0, 0, 0, 0}} {
		m := newMaker(1, 5)
		m.r.By, m.r.Variants = []string{results.Delay50}, m.r.Variants[:1]
		for _, loss := range []float64{0.01, 0.02} {
			c := m.cell(results.HOL, map[string]any{"size": 2000.0}, 2, loss, 1)
			for i, value := range values {
				c.Runs[i].Metrics[results.Delay50] = value
				if loss > 0.01 {
					c.Runs[i].Metrics[results.Delay50] = 1000
				}
			}
		}
		page(t, m.r, nil)
		m.r.Cells = m.r.Cells[:1] // each run as a dot
		page(t, m.r, nil)
	}
}
