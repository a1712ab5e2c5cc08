package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/report"
)

// A picture is well-formed, has the ticks of its values and no others, and names its lines.
func TestPicture(t *testing.T) {
	p := report.Picture{
		Title: "a < b", XLabel: "size", YLabel: "ratio", Mark: 1,
		XTicks: []report.Tick{{Value: 1, Label: "one"}, {Value: 16, Label: "sixteen"}, {Value: 64}, {Value: 256, Label: "many"}},
		Lines:  []report.Line{{Name: "Open MPI", Points: []report.Point{{X: 8, Y: 0.5, Low: 0.4, High: 0.7}, {X: 64, Y: 1.2}}}},
	}
	svg := string(p.SVG())
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	for _, want := range []string{">sixteen</text>", ">Open MPI</text>", "a &lt; b</text>", `class="mark"`, `class="whisker"`} {
		assert.Contains(t, svg, want)
	}
	assert.NotContains(t, svg, ">one</text>")
	assert.NotContains(t, svg, ">many</text>")
}
