//go:build linux

package rates_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// A flow is messages of one size, some under way at a time, with some tags.
type flow struct{ size, window, tags int }

func (f flow) String() string { return fmt.Sprintf("%d:%d:%d", f.size, f.window, f.tags) }

// flowsOf reads what formFlows has written.
func flowsOf(text string) (flows []flow, err error) {
	for one := range strings.FieldsSeq(text) {
		var f flow
		if _, err := fmt.Sscanf(one, "%d:%d:%d", &f.size, &f.window, &f.tags); err != nil {
			return nil, fmt.Errorf("%q: %w", one, err)
		}
		flows = append(flows, f)
	}
	return flows, nil
}

func formFlows(flows []flow) string {
	var b strings.Builder
	for _, f := range flows {
		fmt.Fprintln(&b, f)
	}
	return b.String()
}

// Variables that tell flowing what to send, and how many bytes of each.
const (
	flowsVariable = "FLOWS"
	bytesVariable = "FLOW_BYTES"
)

// controlTag is the tag of the messages between flows.
const controlTag = 1000

// flowing has rank 0 send each flow to all others in turn, and tell how many Mbit/s it came to
// from the first send until the last one has told that it has all.
func flowing(ctx context.Context, w *strand.World) error {
	flows, err := flowsOf(os.Getenv(flowsVariable))
	if err != nil {
		return err
	}
	var total int
	if _, err := fmt.Sscan(os.Getenv(bytesVariable), &total); err != nil {
		return err
	}
	c := w.Comm()
	others := c.Size() - 1
	for _, f := range flows {
		each := max(total/f.size/others, 2*f.window)
		if c.Rank() > 0 {
			if err := f.receive(ctx, c, each); err != nil {
				return err
			}
			continue
		}
		took, err := f.send(ctx, c, each)
		if err != nil {
			return err
		}
		fmt.Printf("flow %v: %.0f Mbit/s\n", f, megabits(each*others*f.size, took))
	}
	return nil
}

// buffers are the memory of the messages under way.
func (f flow) buffers() [][]byte {
	bufs := make([][]byte, f.window)
	for i := range bufs {
		bufs[i] = make([]byte, f.size)
	}
	return bufs
}

// slide starts operations, of which as many as the window says are under way.
func (f flow) slide(ctx context.Context, n int, start func(i, slot int) (strand.Request, error)) error {
	reqs := make([]strand.Request, f.window)
	for i := range n + f.window {
		slot := i % f.window
		if i >= f.window && i-f.window < n {
			if _, err := reqs[slot].Wait(ctx); err != nil {
				return err
			}
		}
		if i >= n {
			continue
		}
		var err error
		if reqs[slot], err = start(i, slot); err != nil {
			return err
		}
	}
	return nil
}

func (f flow) send(ctx context.Context, c *strand.Comm, each int) (time.Duration, error) {
	others, bufs := c.Size()-1, f.buffers()
	for dst := 1; dst <= others; dst++ { // all are there
		if _, err := c.Recv(ctx, nil, dst, controlTag); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	err := f.slide(ctx, each*others, func(i, slot int) (strand.Request, error) {
		return c.Isend(bufs[slot], 1+i%others, i/others%f.tags)
	})
	for dst := 1; dst <= others && err == nil; dst++ {
		_, err = c.Recv(ctx, nil, dst, controlTag)
	}
	return time.Since(start), err
}

func (f flow) receive(ctx context.Context, c *strand.Comm, n int) error {
	bufs := f.buffers()
	if err := c.Send(ctx, nil, 0, controlTag); err != nil {
		return err
	}
	err := f.slide(ctx, n, func(i, slot int) (strand.Request, error) { return c.Irecv(bufs[slot], 0, i%f.tags) })
	if err != nil {
		return err
	}
	return c.Send(ctx, nil, 0, controlTag)
}

// runFlows runs flows to some peers over links of these speeds, in Mbit/s, each for about so many
// seconds, and returns what each came to. One goes before, by which the rates of the links
// become known.
func runFlows(t *testing.T, flows []flow, peers int, seconds float64, speeds ...int) map[flow]float64 {
	t.Helper()
	sum := 0
	for _, s := range speeds {
		sum += s
	}
	a, b := links(t, speeds...)
	first := flow{64 << 10, 16, 1}
	r := nettest.Play("flowing", append([]*testnet.Host{a}, slices.Repeat([]*testnet.Host{b}, peers)...),
		fmt.Sprintf("%s=%s", flowsVariable, strings.ReplaceAll(formFlows(slices.Concat([]flow{first}, flows)), "\n", " ")),
		fmt.Sprintf("%s=%d", bytesVariable, int(seconds*float64(sum)*1e6/8))).Run(t)
	require.NoError(t, r.Wait())
	rates := make(map[flow]float64)
	for _, line := range r.Lines(0) {
		var f flow
		var v float64
		if _, err := fmt.Sscanf(line.Text, "flow %d:%d:%d: %f", &f.size, &f.window, &f.tags, &v); err == nil {
			rates[f] = v
		}
	}
	for _, f := range flows {
		require.Contains(t, rates, f, "%s", r)
	}
	return rates
}

// A shareCase is links, their speeds in units, and what flows bring over them, in parts of what
// they bring over one link of one unit.
type shareCase struct {
	speeds []float64
	least  float64
	alone  float64 // where one message at a time is too little for a slow link to get a part of it
}

// of is the least that a flow has to bring. A message beyond 64 KB is not complete before the
// peer has it, so that no more is under way than the window says.
func (c shareCase) of(f flow) float64 {
	if f.size > 64<<10 && f.window == 1 {
		return c.alone
	}
	return c.least
}

var shareCases = []shareCase{
	{[]float64{1, 1}, 1.9, 1.9},
	{[]float64{1, 0.1}, 0.95 * 1.1, 0.95},
	{[]float64{1, 1, 1}, 2.85, 2.85},
}

// Messages below the rendezvous, too, use all the links there are.
func TestSharing(t *testing.T) {
	if !need.Soaking() {
		testSharing(t, shareCases[:2], []flow{{16 << 10, 16, 1}, {256 << 10, 16, 4}}, 1, 100, 0.2, 0.75)
		return
	}
	for _, tags := range []int{1, 10} {
		for peers := 1; peers <= 2; peers++ {
			t.Run(fmt.Sprintf("%d tags, %d peers", tags, peers), func(t *testing.T) {
				var flows []flow
				for size := 8 << 10; size <= 256<<10; size *= 2 {
					for window := 1; window <= 64; window *= 2 {
						flows = append(flows, flow{size, window, tags})
					}
				}
				testSharing(t, shareCases, flows, peers, 1000, 0.5, 1)
			})
		}
	}
}

// testSharing expects a part of what the cases ask for. Of several attempts one good one is
// enough, since the machine may be busy.
func testSharing(t *testing.T, cases []shareCase, flows []flow, peers, unit int, seconds, part float64) {
	const attempts = 4
	one := runFlows(t, flows, peers, seconds, unit)
	best := make([]map[flow]float64, len(cases))
	for i := range cases {
		best[i] = make(map[flow]float64)
	}
	for range attempts {
		for i, c := range cases {
			var again []flow
			for _, f := range flows {
				if best[i][f] < c.of(f)*part {
					again = append(again, f)
				}
			}
			if len(again) == 0 {
				continue
			}
			for f, v := range runFlows(t, again, peers, seconds, stripeCase{speeds: c.speeds}.in(unit)...) {
				best[i][f] = max(best[i][f], v/one[f])
			}
		}
	}
	for _, f := range flows {
		line := fmt.Sprintf("%d bytes, %d at a time: one link %.0f Mbit/s", f.size, f.window, one[f])
		for i, c := range cases {
			line += fmt.Sprintf("; %v %.2f times", c.speeds, best[i][f])
			assert.GreaterOrEqual(t, best[i][f], c.of(f)*part, "%v over %v", f, c.speeds)
		}
		t.Log(line)
	}
}
