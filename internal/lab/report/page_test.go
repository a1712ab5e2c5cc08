package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/report"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/test/need"
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
	need.CI(t, "the browser takes as long as all other tests of this package")
	b := startBrowser(t)
	dir := t.TempDir()

	// The test can fail: it sees requests and errors in a page that has some.
	bad := filepath.Join(dir, "bad.html")
	require.NoError(t, os.WriteFile(bad, []byte(`<img src="http://192.0.2.1/x.png"><script>console.error("hello"); nothing()</script>`), 0o600))
	console, requests := b.open(bad, 1280, 900)
	require.Contains(t, strings.Join(console, "\n"), "hello")
	require.Contains(t, strings.Join(console, "\n"), "ReferenceError")
	require.Equal(t, []string{"http://192.0.2.1/x.png"}, requests)

	wide := screen{"wide", 1400, 1000, false}
	path := filepath.Join(dir, "report.html")
	require.NoError(t, os.WriteFile(path, []byte(page(t, hostile(), synthetic())), 0o600))
	console, requests = b.open(path, wide.width, wide.height)
	assert.Empty(t, console)
	assert.Empty(t, requests)
	telephone := screen{"telephone", 400, 844, false}
	for _, s := range []screen{wide, telephone} {
		b.look(s)
		var width, plots int
		var wrong []string
		b.evaluate("document.documentElement.scrollWidth", &width)
		assert.LessOrEqual(t, width, s.width, "the page must not move sideways")
		b.evaluate("document.querySelectorAll('figure svg').length", &plots)
		assert.Greater(t, plots, 5)
		b.evaluate(`[...document.querySelectorAll('figure svg text')].filter(text => {
			const frame = text.closest('svg').getBoundingClientRect(), box = text.getBoundingClientRect();
			return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1 || Math.min(box.height, box.width) < 5;
		}).map(text => text.textContent + " in " + text.closest('figure').innerText)`, &wrong)
		assert.Empty(t, wrong, "texts that stick out of their plots, or are too small to read")
	}

	require.NoError(t, os.WriteFile(path, []byte(page(t, synthetic(), synthetic())), 0o600))
	b.open(path, wide.width, wide.height)
	for _, s := range []screen{wide, {"desk", 800, 900, false}, telephone, {"wide-dark", 1400, 1000, true}, {"desk-dark", 800, 900, true}, {"telephone-dark", 400, 844, true}} {
		b.look(s)
		var wrong []string
		b.evaluate(`[...document.querySelectorAll('td.verdict')].filter(cell => cell.innerText && cell.getBoundingClientRect().right > innerWidth).map(cell => cell.innerText)`, &wrong)
		assert.Empty(t, wrong, "%s: verdicts that are off the screen", s.name)
		b.evaluate(`[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.getAttribute('aria-label') + ": " + box.scrollWidth + " of " + box.clientWidth)`, &wrong)
		assert.Empty(t, wrong, "%s: tables that are cut off", s.name)
		if folder := os.Getenv(screenshots); folder != "" {
			b.screenshot(filepath.Join(folder, s.name), s.width)
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

// With two transports as with any other number, an axis has all its ticks.
func TestPlotsShowTheLastTick(t *testing.T) {
	m := newMaker(1, 6)
	for _, losses := range [][]float64{{0, 0.01, 0.02}, {0, 0.01}} {
		for variants := 1; variants <= 3; variants++ {
			m.r.Cells, m.r.Variants = nil, newMaker(1, 6).r.Variants[:variants]
			for _, loss := range losses {
				m.cell(results.Farm, map[string]any{"size": 30_000.0}, 8, loss, 1)
			}
			_, plot, found := strings.Cut(page(t, m.r, nil), `role="img"`)
			require.True(t, found)
			plot, _, _ = strings.Cut(plot, "</svg>")
			for _, loss := range losses {
				assert.Regexp(t, fmt.Sprintf(`>\s*%g %%\s*</text>`, loss*100), plot, "%d variants", variants)
			}
		}
	}
}

// Plots beside each other have axes of one kind: none is logarithmic where the next is not.
func TestPlotsBesideEachOtherHaveAxesOfOneKind(t *testing.T) {
	m := newMaker(1, 6)
	m.r.Variants = m.r.Variants[:2]
	for size, worst := range map[float64]float64{30_000: 1.5, 300_000: 100} {
		for _, loss := range []float64{0, 0.01} {
			m.cell(results.Farm, map[string]any{"size": size}, 8, loss, 1+100*loss*(worst-1))
		}
	}
	plots := strings.Split(page(t, m.r, nil), `role="img"`)[1:3]
	for _, plot := range plots {
		plot, _, _ = strings.Cut(plot, "</svg>")
		assert.NotRegexp(t, `>\s*0\s*</text>`, plot, "0 has no place on a logarithmic axis")
		assert.Contains(t, plot, "run time, s")
	}
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

// If the machine was too slow in one cell, the page says so, however many cells went well.
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
