package workload

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/strandmp/strand"
)

// HOL shows head-of-line blocking. Rank 0 sends messages to rank 1 at a steady pace, with one tag
// after the other, and each tag has a receiver of its own that takes them as they come. Where a
// lost packet holds up all tags, all are late; where it holds up only its own, the others are
// not.
//
// A delay counts from when a message was to leave. If the transport makes a message wait before
// it takes it, that is a part of the delay. Both ranks must be on one machine, since [clock]
// gives the times.
type HOL struct {
	Messages int      `json:"messages"`
	Size     int      `json:"size"` // bytes
	Tags     int      `json:"tags"`
	Interval Duration `json:"interval"` // between two messages; 0: as fast as they are taken
}

const defaultInterval = 200 * time.Microsecond

// HOLResult is how long messages took, in seconds, from when they were to be sent to their
// receive.
type HOLResult struct {
	All   Delays   `json:"all"`
	ByTag []Delays `json:"by_tag"`
	// HeldUp is the share of messages that came late with an earlier one of another tag ([heldUp]).
	HeldUp float64 `json:"held_up"`
}

// Check implements [Workload].
func (h HOL) Check() error {
	switch {
	case h.Tags < 1 || h.Tags > MaxMany:
		return fmt.Errorf("%d tags: want 1 to %d", h.Tags, MaxMany)
	case h.Messages < h.Tags || h.Messages > MaxTasks:
		return fmt.Errorf("%d messages: want one for each of %d tags, up to %d", h.Messages, h.Tags, MaxTasks)
	case h.Interval < 0:
		return fmt.Errorf("a message every %v: want 0s or more", time.Duration(h.Interval))
	}
	return CheckSize(h.Size)
}

// Permits implements [Workload].
func (h HOL) Permits(ranks int) error { return atLeast(2, ranks) }

// Run implements [Workload]; ranks other than 0 and 1 have little to do.
func (h HOL) Run(ctx context.Context, c *strand.Comm) (Result, error) {
	if err := c.Barrier(ctx); err != nil {
		return nil, err
	}
	switch c.Rank() {
	case 0:
		return h.send(ctx, c)
	case 1:
		return nil, h.receive(ctx, c)
	}
	return nil, nil
}

// timesTag is of the message that brings back when messages arrived.
func (h HOL) timesTag() int { return h.Tags }

// send sends at its pace, whatever becomes of what was sent before, and returns what
// rank 1 has seen.
func (h HOL) send(ctx context.Context, c *strand.Comm) (_ Result, err error) {
	content := newPayload(h.Size)
	heads, requests := make([][numberBytes]byte, h.Messages), make([]strand.Request, h.Messages)
	planned := make([]int64, h.Messages)
	pace, err := newAlarm(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pace.close()) }()
	start, err := clock()
	if err != nil {
		return nil, err
	}
	for i := range h.Messages {
		if planned[i], err = h.await(ctx, pace, start, i); err != nil {
			return nil, err
		}
		binary.LittleEndian.PutUint64(heads[i][:], uint64(i))
		if requests[i], err = c.IsendV([][]byte{heads[i][:], content.window(uint64(i))}, 1, i%h.Tags); err != nil {
			return nil, err
		}
	}
	if err := strand.WaitAll(ctx, requests, nil); err != nil {
		return nil, err
	}
	times := make([]byte, 8*h.Messages)
	if _, err := c.Recv(ctx, times, 1, h.timesTag()); err != nil {
		return nil, err
	}
	return h.result(planned, times), nil
}

// await waits until a message is to leave, and returns that time. If the time has passed it
// returns at once. Without a pace the time is now.
func (h HOL) await(ctx context.Context, pace *alarm, start int64, message int) (planned int64, err error) {
	now, err := clock()
	if err != nil {
		return 0, err
	}
	planned = start + int64(message)*int64(h.Interval)
	switch {
	case h.Interval == 0:
		return now, context.Cause(ctx)
	case planned <= now:
		return planned, context.Cause(ctx)
	}
	return planned, pace.wait(ctx, planned)
}

func (h HOL) result(planned []int64, times []byte) *HOLResult {
	r := &HOLResult{}
	var all []float64
	var arrived []int64
	byTag := make([][]float64, h.Tags)
	for i := range planned {
		arrived = append(arrived, int64(binary.LittleEndian.Uint64(times[8*i:])))
		took := float64(arrived[i]-planned[i]) / 1e9
		all = append(all, took)
		byTag[i%h.Tags] = append(byTag[i%h.Tags], took)
	}
	r.All = delaysOf(all)
	r.HeldUp = heldUp(planned, arrived, int64(r.All.Median*1e9), h)
	for _, seconds := range byTag {
		r.ByTag = append(r.ByTag, delaysOf(seconds))
	}
	return r
}

// heldUp is the share of messages that waited for one of another tag, as they do behind what is lost where all come in the order in which they were
// sent. Such a message is late, by more than an interval over the median. With it, less than an interval before, come earlier ones that are late, when it was due
// already: the first of these was lost, and is of another tag. Of two that are lost by themselves few come so. Without a pace it is 0.
func heldUp(planned, arrived []int64, median int64, h HOL) float64 {
	interval, held := int64(h.Interval), 0
	if interval == 0 {
		return 0
	}
	var late []int // in the order in which they came
	for i := range planned {
		if arrived[i]-planned[i] > median+interval {
			late = append(late, i)
		}
	}
	slices.SortFunc(late, func(a, b int) int { return cmp.Compare(arrived[a], arrived[b]) })
	first := 0 // of those that came less than an interval before
	for _, i := range late {
		for arrived[i]-arrived[late[first]] >= interval {
			first++
		}
		lost := i
		for _, other := range late[first:] {
			if arrived[other] > arrived[i] {
				break
			}
			lost = min(lost, other)
		}
		if (i-lost)%h.Tags != 0 {
			held++
		}
	}
	return float64(held) / float64(len(planned))
}

// receive takes each tag's messages on a goroutine of its own.
func (h HOL) receive(ctx context.Context, c *strand.Comm) error {
	content, times := newPayload(h.Size), make([]byte, 8*h.Messages)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan error, h.Tags)
	for tag := range h.Tags {
		go func() { over <- h.receiveTag(ctx, c, content, tag, times) }()
	}
	var first error
	for range h.Tags {
		if err := <-over; err != nil && first == nil {
			first = err
			cancel()
		}
	}
	if first != nil {
		return first
	}
	return c.Send(ctx, times, 0, h.timesTag())
}

func (h HOL) receiveTag(ctx context.Context, c *strand.Comm, content *payload, tag int, times []byte) error {
	buf := make([]byte, h.Size)
	for i := tag; i < h.Messages; i += h.Tags {
		st, err := c.Recv(ctx, buf, 0, tag)
		if err != nil {
			return err
		}
		arrived, err := clock()
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(times[8*i:], uint64(arrived))
		if got, err := content.check(buf[:st.Count]); err != nil || got != uint64(i) {
			return errors.Join(err, fmt.Errorf("tag %d: message %d came: want %d", tag, got, i))
		}
	}
	return nil
}
