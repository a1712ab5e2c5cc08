package report

import (
	"math"
	"slices"
)

// An axis is one of a plot's.
type axis struct {
	label string
	log   bool
	zero  bool // starts at 0 if it is not logarithmic
	ticks ticker

	// low and high are the range of the axis, if it is to be another one than the points need.
	low, high float64
}

// span gives the axis a range that shows some values.
func (a axis) span(values []float64) span {
	low, high := a.low, a.high
	if high <= low && len(values) > 0 {
		low, high = slices.Min(values), slices.Max(values)
		switch {
		case a.log:
			room := 1.2
			if high/low < 4 {
				room = 1.5
			}
			low, high = low/room, high*room
		case a.zero:
			low, high = 0, high*1.05
		}
	}
	if high <= low {
		high = low + max(1, abs(low))
	}
	return span{axis: a, low: along(low, a.log), high: along(high, a.log), ticks: a.ticks.Ticks(low, high)}
}

// along is how far along an axis a value is.
func along(value float64, log bool) float64 {
	if log {
		return math.Log(value)
	}
	return value
}

// A span is an axis in a picture.
type span struct {
	axis
	low, high float64 // how far along the axis it begins and ends
	from, to  float64 // where on the picture that is
	ticks     []tick
}

// at is where a value is on the picture.
func (s span) at(value float64) float64 {
	return s.from + (along(value, s.log)-s.low)/(s.high-s.low)*(s.to-s.from)
}

// widest is how wide the ticks' labels are.
func (s span) widest() (width float64) {
	for _, t := range s.ticks {
		width = max(width, textWidth(t.Label))
	}
	return width
}

// makeRoom ends a horizontal axis so far to the left that its labels end before a limit. Each
// label is centred below its tick.
func (s *span) makeRoom(limit float64) {
	for _, t := range s.ticks {
		share := (along(t.Value, s.log) - s.low) / (s.high - s.low)
		if half := textWidth(t.Label) / 2; share > 0.5 && s.at(t.Value)+half > limit {
			s.to = s.from + (limit-half-s.from)/share
		}
	}
}

// A tick is a value that an axis shows, with a line across the plot if it has a label.
type tick struct {
	Value float64
	Label string
}

// A ticker has the ticks of an axis.
type ticker interface {
	Ticks(low, high float64) []tick
}

// steps are ticks at 1, 2 and 5 and their multiples by ten, in a table's unit.
type steps struct {
	unit scale
	log  bool
}

// Ticks implements [ticker].
func (s steps) Ticks(low, high float64) []tick {
	if !s.log {
		return s.linear(low, high)
	}
	low, high = low/s.unit.factor, high/s.unit.factor
	if !(low > 0 && high > low && !math.IsInf(high, 0)) {
		return nil
	}
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	stride := max(1, (last-first)/6) // so many powers of ten from label to label
	digits := []float64{1, 2, 5}
	if high/low < 10 { // else there might be one tick only, or two
		digits = []float64{1, 1.5, 2, 3, 4, 5, 7}
	}
	var ticks []tick
	for power := first; power <= last; power++ {
		for _, digit := range digits {
			value := digit * math.Pow10(power)
			if value < low || value > high {
				continue
			}
			label := ""
			if (digit == 1 && (power-first)%stride == 0) || (digit != 1 && last-first <= 2) {
				label = plain(value)
			}
			ticks = append(ticks, tick{Value: value * s.unit.factor, Label: label})
		}
	}
	return ticks
}

// linear are about five ticks.
func (s steps) linear(low, high float64) []tick {
	low, high = low/s.unit.factor, high/s.unit.factor
	step := math.Pow10(int(math.Floor(math.Log10((high - low) / 2))))
	for _, multiple := range []float64{2, 2.5, 2} {
		if (high-low)/step > 6 {
			step *= multiple
		}
	}
	var ticks []tick
	for i := math.Ceil(low / step); i*step <= high && len(ticks) < 20; i++ {
		ticks = append(ticks, tick{Value: i * step * s.unit.factor, Label: plain(i * step)})
	}
	return ticks
}

// named are ticks with names.
type named []tick

// Ticks implements [ticker].
func (n named) Ticks(float64, float64) []tick { return n }
