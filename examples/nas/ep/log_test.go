package ep

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Ldexp(rapid.Float64Range(0.5, 1).Draw(t, "x"), -rapid.IntRange(0, 90).Draw(t, "exponent"))
		if got, want := log(x), math.Log(x); math.Abs(got-want) > 1e-15*max(1, -want) {
			t.Fatalf("log %v is %v: want %v", x, got, want)
		}
	})
}

func BenchmarkBatch(b *testing.B) {
	uniform := make([]float64, 2<<batchLog)
	for b.Loop() {
		s := seed
		s.Fill(uniform)
		var t tally
		t.add(uniform)
	}
}
