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
