//go:build linux

package rates_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/lab/stats"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// talkersVariable tells talkers how many round trips each goroutine makes.
const talkersVariable = "TALKERS_ROUNDS"

// A crew is the goroutines of a rank: some talk, each by round trips of 8 bytes of its own, and others wait for a message that
// comes at the end.
type crew struct{ Talking, Waiting int }

var crews = []crew{{1, 0}, {1, 1}, {1, 64}, {2, 0}, {4, 0}, {16, 0}}

// crewTimes is what rank 0 finds out, in µs: the median of the round trips, what 99 of 100 take, and how long one takes in the mean if
// all that were made at a time are counted.
type crewTimes struct {
	Crew             crew
	Median, P99, Own float64
}

// talkers has each crew talk with rank 1, one after the other.
func talkers(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	var rounds int
	if _, err := fmt.Sscan(os.Getenv(talkersVariable), &rounds); err != nil {
		return err
	}
	var told []crewTimes
	for _, crew := range crews {
		times, err := crew.talk(ctx, c, rounds)
		if err != nil {
			return err
		}
		told = append(told, times)
	}
	if c.Rank() > 0 {
		return nil
	}
	return json.NewEncoder(os.Stdout).Encode(told)
}

func (crew crew) talk(ctx context.Context, c *strand.Comm, rounds int) (crewTimes, error) {
	errs := make([]error, crew.Talking+crew.Waiting)
	trips := make([][]float64, crew.Talking)
	var talking, waiting sync.WaitGroup
	if c.Rank() == 0 {
		for i := range crew.Waiting {
			waiting.Go(func() { _, errs[crew.Talking+i] = c.Recv(ctx, nil, 1, crew.Talking+i) })
		}
	}
	if err := c.Barrier(ctx); err != nil {
		return crewTimes{}, err
	}
	began := time.Now()
	for i := range crew.Talking {
		talking.Go(func() { trips[i], errs[i] = exchanges(ctx, c, i, rounds) })
	}
	talking.Wait()
	took := time.Since(began)
	for i := range crew.Waiting {
		if c.Rank() == 1 {
			errs[crew.Talking+i] = c.Send(ctx, nil, 0, crew.Talking+i)
		}
	}
	waiting.Wait()
	all := slices.Concat(trips...)
	return crewTimes{crew, stats.Median(all), p99(all), micros(took) / float64(len(all))}, errors.Join(errs...)
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// exchanges makes round trips, or answers those of rank 0.
func exchanges(ctx context.Context, c *strand.Comm, tag, rounds int) (all []float64, err error) {
	buf := make([]byte, 8)
	send := func() error { return c.Send(ctx, buf, 1-c.Rank(), tag) }
	receive := func() error { _, err := c.Recv(ctx, buf, 1-c.Rank(), tag); return err }
	first, second := send, receive
	if c.Rank() > 0 {
		first, second = receive, send
	}
	for range rounds {
		began := time.Now()
		if err := errors.Join(first(), second()); err != nil {
			return nil, err
		}
		all = append(all, micros(time.Since(began)))
	}
	return all, nil
}

// A goroutine's round trips take about as long while others wait for something else, and several goroutines that all talk have
// several messages under way: over TCP those share calls. One good attempt is enough: others may use the machine.
func TestGoroutinesThatTalkAndWait(t *testing.T) {
	attempts, rounds := 4, 300
	if need.Soaking() {
		attempts, rounds = 7, 5000
	}
	for _, btl := range []string{"tcp", "sm"} {
		t.Run(btl, func(t *testing.T) {
			host := testnet.New(t).Host("host")
			good := 0
			for range attempts {
				r := nettest.Play("talkers", []*testnet.Host{host, host}, "STRAND_BTL="+btl+",self", fmt.Sprintf("%s=%d", talkersVariable, rounds)).Run(t)
				require.NoError(t, r.Wait())
				var told []crewTimes
				for _, line := range r.Lines(0) {
					if strings.HasPrefix(line.Text, "[") {
						require.NoError(t, json.Unmarshal([]byte(line.Text), &told))
					}
				}
				require.Len(t, told, len(crews), "%s", r)
				for _, c := range told {
					t.Logf("%2d talk, %2d wait: median %.1f µs, 99 %% %.0f, one each %.1f", c.Crew.Talking, c.Crew.Waiting, c.Median, c.P99, c.Own)
				}
				alone, one, many, sixteen := told[0], told[1], told[2], told[5]
				if one.Median < 10*alone.Median && many.Median < 10*alone.Median && (btl != "tcp" || sixteen.Own < 0.9*alone.Own) {
					good++
					if !need.Soaking() {
						break
					}
				}
			}
			assert.Positive(t, good)
		})
	}
}
