package emulate

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]Rate{
		"10mbit": 10 * Mbit, "2.5Gbit": 2_500 * Mbit, "64kbit": 64 * Kbit, "1bit": 1, "unlimited": 0, " 1gbit ": Gbit,
	} {
		got, err := ParseRate(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"0mbit": "want 1bit to 1000gbit", "-1mbit": "want 1bit", "1e30gbit": "want 1bit", "100": "has no unit",
		"": "has no unit", "fastmbit": `"fast" is no number`, "nanmbit": "is no number",
	} {
		_, err := ParseRate(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestRateIsReadAsItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Rate(rapid.Int64Range(0, int64(MaxRate)).Draw(t, "rate"))
		got, err := ParseRate(want.String())
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestParseLoss(t *testing.T) {
	for text, want := range map[string]Loss{
		"1%": Independent(0.01), "0": {}, "100%": Independent(1), " 2.5 % ": Independent(0.025), "1%/4": Bursts(0.01, 4), "50/1": Bursts(0.5, 1), "90%/9": {Bad: 1, Worsens: 1, Recovers: 1. / 9},
	} {
		got, err := ParseLoss(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
		again, err := ParseLoss(got.String())
		require.NoError(t, err, text)
		assert.InDelta(t, got.Share(), again.Share(), 1e-6)
		assert.InDelta(t, got.Recovers, again.Recovers, 1e-6)
	}
	for text, want := range map[string]string{
		"120%": "want 0% to 100%", "-1": "want 0% to 100%", "nan": "want 0% to 100%", "": "want 0% to 100%", "x%": "want 0% to 100%",
		"1%/0.5": "want 1 or more", "1%/x": "want 1 or more", "1%/inf": "want 1 or more", "90%/2": "want runs of 9 or more", "70%/2.33": "want runs of 2.34 or more",
	} {
		_, err := ParseLoss(text)
		assert.ErrorContains(t, err, want, text)
	}
	assert.Equal(t, "9.16667% (good 1%, bad 50%, worsens 2%, recovers 10%)", Loss{Good: 0.01, Bad: 0.5, Worsens: 0.02, Recovers: 0.1}.String())
}

func TestCheckNamesWhatIsWrong(t *testing.T) {
	require.NoError(t, Link{NIC{Rate: Gbit}, everything}.Check())
	for want, l := range map[string]Link{
		"rate -1 bit/s: want 1bit to 1000gbit":        {NIC: NIC{Rate: -1}},
		"queue of -1 frames":                          {NIC: NIC{Queue: Queue{Frames: -1}}},
		"queue of -2 bytes":                           {NIC: NIC{Queue: Queue{Bytes: -2}}},
		"delay -1s: want 0 to 1m0s":                   {Path: Path{Delay: -time.Second}},
		"jitter 2h0m0s: want 0 to 1m0s":               {Path: Path{Jitter: 2 * time.Hour}},
		"jitter 2ms is more than the delay 1ms":       {Path: Path{Delay: time.Millisecond, Jitter: 2 * time.Millisecond}},
		"duplicate 1.5: want a share of 0 to 1":       {Path: Path{Duplicate: 1.5}},
		"corrupt NaN: want a share of 0 to 1":         {Path: Path{Corrupt: math.NaN()}},
		"loss: good 1.2: want a share of 0 to 1":      {Path: Path{Loss: Independent(1.2)}},
		"loss: worsens 9":                             {Path: Path{Loss: Bursts(0.9, 1)}},
		"never recovers is bad for ever: give recove": {Path: Path{Loss: Loss{Bad: 0.5, Worsens: 0.1}}},
	} {
		assert.ErrorContains(t, l.Check(), want)
		_, err := New(Uniform(2, l, 0))
		assert.ErrorContains(t, err, want)
	}
	_, err := New(Config{})
	assert.ErrorContains(t, err, "a network of 0 hosts: want 1 to 256")
}

// A queue is as long as it is said to be, or it is refused, where an int has 32 bits too.
func TestParseQueue(t *testing.T) {
	for text, want := range map[string]Queue{"1000": {Frames: 1000}, "256K": {Bytes: 256 << 10}} {
		got, err := ParseQueue(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"0", "-1", "0K", "much", "9999999999999999999"} {
		_, err := ParseQueue(text)
		assert.ErrorContains(t, err, "want 1 or more frames", text)
	}
	if q, err := ParseQueue("5G"); err == nil {
		assert.EqualValues(t, int64(5<<30), q.Bytes)
	}
}
