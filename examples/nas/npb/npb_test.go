package npb_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/examples/nas/npb"
)

// The generator is what its formula says, in steps, many at a time, and in one.
func TestSeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := npb.Seed(rapid.Uint64Range(0, 1<<45-1).Draw(t, "half of it")*2 + 1)
		n := rapid.IntRange(0, 300).Draw(t, "steps")
		modulus := new(big.Int).Lsh(big.NewInt(1), 46)
		want := new(big.Int).SetUint64(uint64(first))
		one, many, all := first, first, make([]float64, n)
		many.Fill(all)
		for i := range n {
			want.Mul(want, big.NewInt(int64(npb.Multiplier))).Mod(want, modulus)
			number := one.Next(npb.Multiplier)
			if uint64(one) != want.Uint64() || number != all[i] || number != math.Ldexp(float64(one), -46) {
				t.Fatalf("step %d: %d, %v and %v: want %v", i, one, number, all[i], want)
			}
		}
		skipped := first
		skipped.Skip(uint64(n))
		if skipped != one || many != one {
			t.Fatalf("after %d steps %d, %d and %d", n, one, many, skipped)
		}
	})
}

func TestParseClass(t *testing.T) {
	for text, want := range map[string]npb.Class{"S": npb.S, "w": npb.W, "a": npb.A, "B": npb.B} {
		c, err := npb.ParseClass(text)
		require.NoError(t, err)
		assert.Equal(t, want, c)
	}
	for _, bad := range []string{"", "C", "SS", "1"} {
		_, err := npb.ParseClass(bad)
		assert.ErrorContains(t, err, "want S, W, A or B", bad)
	}
}

// What differs from what was published is found, and what is no number too.
func TestVerified(t *testing.T) {
	good := npb.Check{Name: "zeta", Got: 10 + 5e-10, Want: 10, Tolerance: 1e-10}
	assert.True(t, good.Holds())
	assert.True(t, npb.Exactly("keys", 7, 7).Holds())
	assert.False(t, npb.Exactly("keys", 6, 7).Holds())
	r := npb.Result{Kernel: "CG", Class: npb.W, Ranks: 2}
	assert.False(t, r.Verified(), "nothing was compared")
	for _, got := range []float64{10 + 2e-9, 10 - 2e-9, -10, 0, math.NaN(), math.Inf(1)} {
		bad := good
		bad.Got = got
		r.Checks = []npb.Check{good, bad}
		assert.False(t, r.Verified(), "%v", got)
	}
	r.Checks = []npb.Check{good}
	assert.True(t, r.Verified())
}

// JSON has no word for what is no number. Such a result is told all the same.
func TestWrongValuesInJSON(t *testing.T) {
	for _, got := range []float64{1.5, math.NaN(), math.Inf(-1)} {
		want := npb.Result{Kernel: "CG", Class: npb.W, Checks: []npb.Check{{Name: "zeta", Got: got, Want: 10, Tolerance: 1e-10}}}
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var read npb.Result
		require.NoError(t, json.Unmarshal(text, &read))
		assert.Equal(t, got == 1.5, read.Checks[0].Got == got, string(text))
		assert.False(t, read.Verified())
		assert.Equal(t, 10.0, read.Checks[0].Want)
	}
}

// The report has the lines that readers of NPB's look for.
func TestReport(t *testing.T) {
	r := npb.Result{
		Kernel: "CG", Class: npb.W, Size: "7000", Iterations: 15, Ranks: 4, Seconds: 0.25, Mops: 1680, Operation: "floating point",
		Checks: []npb.Check{{Name: "zeta", Got: 10, Want: 10, Tolerance: 1e-10}},
	}
	var b bytes.Buffer
	r.Report(&b)
	for _, line := range []string{
		"CG Benchmark Completed.\n",
		"Class           =                        W\n",
		"Total processes =                        4\n",
		"Mop/s total     =                  1680.00\n",
		"Mop/s/process   =                   420.00\n",
		"Verification    =               SUCCESSFUL\n",
	} {
		assert.Contains(t, b.String(), line)
	}
	r.Checks[0].Got = 11
	b.Reset()
	r.Report(&b)
	assert.Contains(t, b.String(), "UNSUCCESSFUL")
	assert.Contains(t, b.String(), "zeta is 11: want 10, to a relative difference of 1e-10")

	text, err := json.Marshal(r)
	require.NoError(t, err)
	var again npb.Result
	require.NoError(t, json.Unmarshal(text, &again))
	assert.Equal(t, r, again)
}
