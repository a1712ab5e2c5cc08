package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/lab/results"
)

// A ratio that is not 1 is not written as 1, nor as 0.
func TestRatiosHaveAsManyDecimalsAsTheyNeed(t *testing.T) {
	for ratio, want := range map[float64]string{
		1: "1.00", 0.99: "0.99", 1.0149: "1.01", 1.002: "1.002", 0.9996: "0.9996", 1.000_000_000_01: "1.00", 1.000_000_01: "1.000000010",
		0.004: "0.00400", 0.5: "0.50", 9.99: "9.99", 12.34: "12.3",
	} {
		assert.Equal(t, want, times(ratio))
	}
	assert.Equal(t, "0.2 % more", amount(1.002))
	assert.Equal(t, "0.03 % less", amount(0.9997))
	assert.Equal(t, "8 % more", amount(1.08))
}

// Points lie around where they belong, be there two of them or five, and all have room.
func TestDodgesAreCentred(t *testing.T) {
	for _, d := range []dimension{byLoss, bySize} {
		for _, names := range [][]string{{"a"}, {"a", "b"}, {"a", "b", "c", "d", "e", "f", "g"}} {
			var rows []*row
			for _, name := range names {
				rows = append(rows, &row{Contrast: Contrast{Name: name}})
			}
			ticks := named{{Value: 1}, {Value: 3}, {Value: 20}}
			b := dodging(d, ticks, rows)
			for _, tick := range ticks {
				sum := 0.0
				for _, name := range names {
					at := b.place(tick.Value, name)
					sum += d.onAxis(at)
					assert.Greater(t, at, b.low)
					assert.Less(t, at, b.high)
				}
				assert.InDelta(t, d.onAxis(tick.Value), sum/float64(len(names)), 1e-9)
				assert.Greater(t, tick.Value, b.low)
				assert.Less(t, tick.Value, b.high)
			}
		}
	}
}

// A value is where its axis says, and the last label ends on the picture.
func TestValuesAreWhereTheirAxisSays(t *testing.T) {
	for _, a := range []axis{
		{low: 2, high: 18, ticks: named{{10, "middle"}, {18, "the last of all"}}},
		{low: 2, high: 50, log: true, ticks: named{{10, "middle"}, {50, "the last of all"}}},
	} {
		s := a.span(nil)
		s.from, s.to = 40, 240
		assert.InDelta(t, 40, s.at(a.low), 1e-9)
		assert.InDelta(t, 140, s.at(10), 1e-9)
		assert.InDelta(t, 240, s.at(a.high), 1e-9)
		s.makeRoom(250)
		assert.InDelta(t, 40, s.at(a.low), 1e-9)
		assert.InDelta(t, 250, s.at(a.high)+textWidth("the last of all")/2, 1e-9)
	}
	for _, a := range []axis{{ticks: named{}}, {log: true, ticks: named{}}, {zero: true, ticks: named{}}} {
		s := a.span([]float64{3, 7, 5})
		for _, value := range []float64{3, 5, 7} {
			assert.LessOrEqual(t, s.low, along(value, a.log))
			assert.GreaterOrEqual(t, s.high, along(value, a.log))
		}
		same := a.span([]float64{1e300, 1e300})
		assert.Less(t, same.low, same.high)
	}
}

// A table that has no figures yet is titled as it mostly is when it has some: it said GB/s, and s.
func TestScaleBeforeFigures(t *testing.T) {
	for unit, want := range map[results.Unit]string{results.Seconds: "ms", results.BytesPerSecond: "MB/s", results.OperationsPerSecond: "Mop/s", results.Share: "%"} {
		assert.Equal(t, want, scaleFor(unit, nil).name, unit)
	}
}
