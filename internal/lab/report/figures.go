package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/stats"
)

// A scale is the unit that a table's figures are in.
type scale struct {
	name   string
	factor float64 // of one in the metric's own unit
}

var scales = map[results.Unit][]scale{
	results.Seconds:             {{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}},
	results.BytesPerSecond:      {{"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1}},
	results.OperationsPerSecond: {{"Gop/s", 1e9}, {"Mop/s", 1e6}, {"kop/s", 1e3}, {"op/s", 1}},
	results.Share:               {{"%", 0.01}},
}

// scaleFor returns a scale in which most figures are between 1 and 1000. Before there are any it is one that they mostly are in then (ms,
// MB/s), so that the title of a table which fills itself does not change with the first of them.
func scaleFor(unit results.Unit, values []float64) scale {
	units := scales[unit]
	if len(values) == 0 {
		return units[min(1, len(units)-1)]
	}
	middle := stats.Median(values)
	for _, s := range units {
		if middle >= s.factor {
			return s
		}
	}
	return units[len(units)-1]
}

// text writes a value without its unit.
func (s scale) text(value float64) string { return digits(value / s.factor) }

// quantity writes a value with a unit of its own.
func quantity(unit results.Unit, value float64) string {
	s := scaleFor(unit, []float64{value})
	return s.text(value) + " " + s.name
}

// digits writes a number with three significant digits.
func digits(value float64) string {
	if value == 0 {
		return "0"
	}
	// Rounding may add a digit in front: 9.996 is 10.0.
	magnitude := int(math.Floor(math.Log10(math.Abs(value)) + 0.0002))
	decimals := min(max(2-magnitude, 0), 9)
	return strconv.FormatFloat(value, 'f', decimals, 64)
}

// percent writes a share.
func percent(share float64) string {
	return strconv.FormatFloat(share*100, 'g', 4, 64) + " %"
}

// level writes an interval's confidence.
func level(share float64) string { return fmt.Sprintf("%.0f %%", share*100) }

// times writes a ratio, with as many decimals as tell it from 1 and from 0.
func times(ratio float64) string {
	if ratio >= 10 || ratio < 0.1 {
		return digits(ratio)
	}
	const rounding = 1e-9 // of a few operations
	text := strconv.FormatFloat(ratio, 'f', 2, 64)
	if text == "1.00" && math.Abs(ratio-1) > rounding {
		return strconv.FormatFloat(ratio, 'f', max(2, firstDecimal(ratio-1)), 64)
	}
	return text
}

// roughly writes a number without decimals, or one below 1 with one digit.
func roughly(value float64) string {
	return strconv.FormatFloat(value, 'f', firstDecimal(value), 64)
}

// firstDecimal is the place of a number's first decimal that is not 0, as far as it matters;
// 0 for one of 1 or more, and for 0.
func firstDecimal(value float64) int {
	const most = 9
	if value == 0 {
		return 0
	}
	return min(max(0, int(math.Ceil(-math.Log10(math.Abs(value))))), most)
}

// between writes an interval by a way to write its ends; "" if there is none.
func between(i stats.Interval, text func(float64) string) string {
	if i.Level == 0 {
		return ""
	}
	return text(i.Low) + " – " + text(i.High)
}

// shown is a median's interval, if it is worth showing: two runs have one of 50 %.
func shown(s stats.Summary) stats.Interval {
	if s.Interval.Level <= 0.5 {
		return stats.Interval{}
	}
	return s.Interval
}

// sure is a ratio's interval, if it is good for a verdict.
func sure(r stats.Ratio) stats.Interval {
	if !r.Interval.Sure() {
		return stats.Interval{}
	}
	return r.Interval
}

// harmless is a text that anyone may have written, for a terminal: nothing in it moves the
// cursor, but to the next line, or changes a colour.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ReplacementChar
	}, text)
}

// line makes one line of such a text.
func line(text string, longest int) string {
	clean := strings.Join(strings.Fields(harmless(text)), " ")
	if runes := []rune(clean); len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return clean
}

// folded breaks a line between words; what continues it is indented. A word that is longer has a
// line of its own.
func folded(text string, width int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, "  "+word)
		default:
			*last += " " + word
		}
	}
	return lines
}

// plain writes a round number, as at a plot's ticks.
func plain(value float64) string { return strconv.FormatFloat(value, 'g', 6, 64) }
