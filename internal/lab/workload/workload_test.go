package workload_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/lab/workload"
	"github.com/strandmp/strand/strandtest"
)

// run runs a workload on so many ranks and returns what rank 0 has measured.
func run[R workload.Result](t *testing.T, ranks int, w workload.Workload, opts ...strand.Option) (result R) {
	t.Helper()
	require.NoError(t, w.Check())
	strandtest.Run(t, ranks, func(ctx context.Context, world *strand.World) error {
		r, err := w.Run(ctx, world.Comm())
		if err != nil {
			return err
		}
		if world.Rank() == 0 {
			result = r.(R)
		} else {
			assert.Nil(t, r)
		}
		return nil
	}, opts...)
	return result
}

func checkDelays(t *testing.T, d workload.Delays) {
	t.Helper()
	require.Len(t, d.Quantiles, 21)
	assert.IsIncreasing(t, append([]float64{0}, d.Quantiles[0]))
	assert.IsNonDecreasing(t, d.Quantiles)
	assert.Equal(t, d.Median, d.Quantiles[10])
	assert.Equal(t, d.P90, d.Quantiles[18])
	assert.Equal(t, d.Worst, d.Quantiles[20])
	assert.IsNonDecreasing(t, []float64{d.P90, d.P99, d.Worst})
}

func TestPingPong(t *testing.T) {
	p := workload.PingPong{Sizes: []int{8, 30_000, 300_000}, Rounds: 20, Warmup: 3}
	r := run[*workload.PingPongResult](t, 3, p)
	require.Len(t, r.BySize, 3)
	for i, s := range r.BySize {
		assert.Equal(t, p.Sizes[i], s.Size)
		assert.Positive(t, s.BytesPerSecond)
		assert.LessOrEqual(t, s.Worst, s.Seconds)
		checkDelays(t, s.Delays)
	}
}

func TestFarm(t *testing.T) {
	for _, f := range []workload.Farm{
		{Tasks: 200, Size: 30_000, Fanout: 1, Outstanding: 10, Types: 10},
		{Tasks: 205, Size: 300_000, Fanout: 10, Outstanding: 2, Types: 3}, // the last request gets a part
		{Tasks: 1, Size: 8, Fanout: 4, Outstanding: 4, Types: 1},          // most get nothing
	} {
		for _, ordering := range []string{"strict", "relaxed"} {
			f.Ordering = ordering
			r := run[*workload.FarmResult](t, 4, f)
			assert.Equal(t, ordering, r.Ordering)
			assert.Equal(t, 3, r.Workers)
		}
	}
}

// A farm that says nothing is ordered as its ranks are.
func TestFarmTakesTheOrderingOfItsRanks(t *testing.T) {
	f := workload.Farm{Tasks: 10, Size: 8, Fanout: 1, Outstanding: 1, Types: 2}
	assert.Equal(t, "strict", run[*workload.FarmResult](t, 2, f).Ordering)
	assert.Equal(t, "relaxed", run[*workload.FarmResult](t, 2, f, strand.WithParam("pml_ordering", "relaxed")).Ordering)
}

func TestHOL(t *testing.T) {
	h := workload.HOL{Messages: 103, Size: 3000, Tags: 10, Interval: workload.Duration(100 * time.Microsecond)}
	r := run[*workload.HOLResult](t, 3, h)
	require.Len(t, r.ByTag, h.Tags)
	for _, d := range append(r.ByTag, r.All) {
		checkDelays(t, d)
		assert.LessOrEqual(t, d.Worst, r.All.Worst)
	}
}

// What counts is the plan. A message that could not leave when it was to is late, whether earlier
// messages held it up or something of its own did.
func TestHOLCountsFromThePlan(t *testing.T) {
	h := workload.HOL{Messages: 50, Size: 8, Tags: 1, Interval: workload.Duration(time.Microsecond)}
	var result *workload.HOLResult
	strandtest.Run(t, 2, func(ctx context.Context, world *strand.World) error {
		c := world.Comm()
		if world.Rank() == 0 {
			r, err := h.Run(ctx, c)
			result, _ = r.(*workload.HOLResult)
			return err
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		var message [8]byte
		for range h.Messages {
			if _, err := c.Recv(ctx, message[:], 0, 0); err != nil {
				return err
			}
		}
		// All are said to have come now.
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			return err
		}
		var times []byte
		for range h.Messages {
			times = binary.LittleEndian.AppendUint64(times, uint64(now.Nano()))
		}
		return c.Send(ctx, times, 0, h.Tags)
	})
	require.NotNil(t, result)
	span := float64(h.Messages-1) * time.Duration(h.Interval).Seconds()
	assert.InDelta(t, span, result.All.Worst-result.All.Quantiles[0], 1e-9, "the first was planned so long before the last")
}

// Rank 1 of a ping-pong sends back what has come as it is. Rank 0 checks it, out of the time that
// counts.
func TestPingPongSendsBackBeforeAnybodyLooks(t *testing.T) {
	p := workload.PingPong{Sizes: []int{64}, Rounds: 1}
	strandtest.Run(t, 2, func(ctx context.Context, world *strand.World) error {
		c := world.Comm()
		if world.Rank() == 1 {
			_, err := p.Run(ctx, c)
			return err
		}
		damaged, back := bytes.Repeat([]byte{7}, 64), make([]byte, 64)
		if err := c.Send(ctx, damaged, 1, 1); err != nil {
			return err
		}
		_, err := c.Recv(ctx, back, 1, 1)
		assert.Equal(t, damaged, back)
		return err
	})
	// And it does check.
	strandtest.Run(t, 2, func(ctx context.Context, world *strand.World) error {
		c := world.Comm()
		if world.Rank() == 0 {
			_, err := p.Run(ctx, c)
			assert.ErrorContains(t, err, "is damaged at byte 8 of 64")
			return nil
		}
		message := make([]byte, 64)
		if _, err := c.Recv(ctx, message, 0, 1); err != nil {
			return err
		}
		message[8]++
		return c.Send(ctx, message, 0, 1)
	})
}

func TestBurst(t *testing.T) {
	for _, ranks := range []int{2, 3, 4, 5} {
		b := workload.Burst{Compute: workload.Duration(20 * time.Microsecond), Messages: 4, Size: 3000, Neighbours: ranks - 1, Rounds: 10}
		r := run[*workload.BurstResult](t, ranks, b)
		assert.Less(t, r.Bursts.Worst, r.Seconds)
		checkDelays(t, r.Bursts)
	}
}

// What strand compare gives to ranks and gets from them.
func TestSpec(t *testing.T) {
	small := map[string]string{
		"pingpong": `{"sizes": [8, 3000], "rounds": 5}`,
		"farm":     `{"tasks": 20}`,
		"hol":      `{"messages": 50, "interval": "10µs"}`,
		"burst":    `{"compute": "10us", "rounds": 3}`,
		"nas":      `{"kernel": "lu", "class": "S"}`, // which permits three ranks
	}
	for _, k := range workload.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			_, err := workload.Spec{Name: k.Name}.Workload()
			require.NoError(t, err, "the defaults")
			spec := workload.Spec{Name: k.Name, Parameters: json.RawMessage(small[k.Name])}
			strandtest.Run(t, 3, func(ctx context.Context, w *strand.World) error {
				outcome, err := spec.Run(ctx, w.Comm())
				if err != nil || w.Rank() != 0 {
					assert.Nil(t, outcome)
					return err
				}
				assert.Equal(t, k.Name, outcome.Workload)
				assert.Equal(t, 3, outcome.Ranks)
				assert.NotEmpty(t, outcome.Detail)
				assert.Empty(t, outcome.Course, "nobody has asked for it")
				require.Len(t, outcome.Members, 3)
				for i, m := range outcome.Members {
					assert.Equal(t, i, m.Rank)
					assert.NotEmpty(t, m.Connections)
				}
				again, err := workload.Spec{Name: k.Name, Parameters: outcome.Parameters}.Workload()
				first, _ := spec.Workload()
				assert.Equal(t, first, again)
				return err
			})
		})
	}
}

func TestBadParameters(t *testing.T) {
	for _, c := range []struct{ name, parameters, want string }{
		{"pong", ``, `there is no workload "pong": want one of pingpong, farm, hol, burst, nas`},
		{"farm", `{"task": 5}`, `unknown field "task"; they are, with their defaults, {"tasks":10000,`},
		{"farm", `{"tasks": 5} {}`, `something follows them`},
		{"farm", `[]`, `cannot unmarshal array`},
		{"farm", `{"tasks": 0}`, "workload farm: a farm with 0 tasks: want 1 to"},
		{"farm", `{"size": 7}`, "messages of 7 bytes: want 8 to 67108864"},
		{"farm", `{"fanout": -1}`, "a farm with -1 tasks for a request: want 1 to 4096"},
		{"farm", `{"outstanding": 1000000}`, "a farm with 1000000 outstanding requests: want 1 to 4096"},
		{"farm", `{"types": 0}`, "a farm with 0 types: want 1 to 4096"},
		{"farm", `{"ordering": "none"}`, `ordering "none": want strict or relaxed`},
		{"pingpong", `{"rounds": 0}`, "0 rounds after 5 to warm up: want 1 to"},
		{"pingpong", `{"sizes": []}`, "0 sizes: want 1 to 4096"},
		{"pingpong", `{"sizes": [8, 1]}`, "messages of 1 bytes"},
		{"hol", `{"messages": 3}`, "3 messages: want one for each of 10 tags"},
		{"hol", `{"tags": 0}`, "0 tags: want 1 to 4096"},
		{"hol", `{"interval": "-1s"}`, "a message every -1s: want 0s or more"},
		{"hol", `{"interval": "fast"}`, `invalid duration "fast"`},
		{"burst", `{"compute": "2m"}`, "computations of 2m0s: want 0s to 1m0s"},
		{"burst", `{"neighbours": 0}`, "a burst workload with 0 neighbours: want 1 to 4096"},
		{"nas", `{"kernel": "bt"}`, `workload nas: kernel "bt": want one of ep, is, cg, mg, ft, lu`},
		{"nas", `{"class": "C"}`, `workload nas: class "C": want S, W, A or B`},
		{"burst", `{"neighbours": 4000}`, "want at most 1073741824 bytes in a burst"},
	} {
		_, err := workload.Spec{Name: c.name, Parameters: json.RawMessage(c.parameters)}.Workload()
		assert.ErrorContains(t, err, c.want, "%s %s", c.name, c.parameters)
	}
}

// What one run was given does not become a default of the next one.
func TestDefaultsStay(t *testing.T) {
	spec := workload.Spec{Name: "pingpong"}
	before, err := spec.Workload()
	require.NoError(t, err)
	_, err = workload.Spec{Name: "pingpong", Parameters: json.RawMessage(`{"sizes": [8, 9]}`)}.Workload()
	require.NoError(t, err)
	after, err := spec.Workload()
	require.NoError(t, err)
	assert.Equal(t, &workload.PingPong{Sizes: []int{30_000, 300_000}, Rounds: 100, Warmup: 5}, after)
	assert.Equal(t, before, after)
}

func TestWrongRanks(t *testing.T) {
	strandtest.Run(t, 2, func(ctx context.Context, w *strand.World) error {
		_, err := workload.Spec{Name: "burst"}.Run(ctx, w.Comm())
		assert.ErrorContains(t, err, "workload burst: 2 ranks: want at least 3")
		return nil
	})
	strandtest.Run(t, 3, func(ctx context.Context, w *strand.World) error {
		_, err := workload.Spec{Name: "nas"}.Run(ctx, w.Comm())
		assert.ErrorContains(t, err, "workload nas: 3 ranks: want a power of two")
		return nil
	})
}
