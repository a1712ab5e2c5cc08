package workload_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/workload"
	"github.com/strandmp/strand/strandtest"
)

func TestPingPong(t *testing.T) {
	for _, size := range []int{8, 30_000, 300_000} {
		p := workload.PingPong{Size: size, Rounds: 20, Warmup: 3}
		strandtest.Run(t, 3, func(ctx context.Context, w *strand.World) error {
			r, err := p.Run(ctx, w.Comm())
			if w.Rank() == 0 && err == nil {
				assert.Equal(t, p, r.PingPong)
				assert.Positive(t, r.BytesPerSecond)
				assert.LessOrEqual(t, r.Median, r.P90)
				assert.LessOrEqual(t, r.P99, r.Worst)
				assert.LessOrEqual(t, r.Worst, r.Seconds)
			} else {
				assert.Nil(t, r)
			}
			return err
		})
	}
}

func TestFarm(t *testing.T) {
	for _, f := range []workload.Farm{
		{Tasks: 200, Size: 30_000, Fanout: 1, Outstanding: 10, Types: 10},
		{Tasks: 205, Size: 300_000, Fanout: 10, Outstanding: 2, Types: 3}, // the last request gets a part
		{Tasks: 1, Size: 8, Fanout: 4, Outstanding: 4, Types: 1},          // most get nothing
	} {
		for _, ordering := range []string{"strict", "relaxed"} {
			strandtest.Run(t, 4, func(ctx context.Context, w *strand.World) error {
				r, err := f.Run(ctx, w.Comm())
				if w.Rank() == 0 && err == nil {
					done := 0
					for _, n := range r.Done {
						done += n
					}
					assert.Equal(t, f.Tasks, done)
					assert.Equal(t, 3, r.Workers)
					assert.Len(t, r.Done, 3)
				}
				return err
			}, strand.WithParam("pml_ordering", ordering))
		}
	}
}

func TestHOL(t *testing.T) {
	h := workload.HOL{Messages: 103, Size: 3000, Tags: 10, Interval: 100 * time.Microsecond}
	strandtest.Run(t, 3, func(ctx context.Context, w *strand.World) error {
		r, err := h.Run(ctx, w.Comm())
		if w.Rank() == 0 && err == nil {
			require.Len(t, r.ByTag, h.Tags)
			for _, d := range append(r.ByTag, r.All) {
				assert.Positive(t, d.Median)
				assert.LessOrEqual(t, d.Median, d.Worst)
				assert.LessOrEqual(t, d.Worst, r.All.Worst)
			}
		} else {
			assert.Nil(t, r)
		}
		return err
	})
	assert.ErrorContains(t, workload.HOL{Messages: 3, Tags: 4, Size: 8}.Check(), "3 messages: want one for each of 4 tags")
}

func TestBadParameters(t *testing.T) {
	good := workload.ThesisFarm(30_000, 10)
	require.NoError(t, good.Check())
	for want, change := range map[string]func(*workload.Farm){
		"a farm with 0 tasks: want 1 to":                           func(f *workload.Farm) { f.Tasks = 0 },
		"messages of 7 bytes: want 8 to 67108864":                  func(f *workload.Farm) { f.Size = 7 },
		"a farm with -1 tasks for a request: want 1 to 4096":       func(f *workload.Farm) { f.Fanout = -1 },
		"a farm with 1000000 outstanding requests: want 1 to 4096": func(f *workload.Farm) { f.Outstanding = 1e6 },
		"a farm with 0 types: want 1 to 4096":                      func(f *workload.Farm) { f.Types = 0 },
	} {
		f := good
		change(&f)
		assert.ErrorContains(t, f.Check(), want)
	}
	assert.ErrorContains(t, workload.PingPong{Size: 8}.Check(), "0 rounds after 0 to warm up: want at least 1")
}
