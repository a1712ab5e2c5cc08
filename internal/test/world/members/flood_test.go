package members_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
)

func init() {
	rankPrograms["flood"] = flood
}

// floods are the kinds of message that a rank is flooded with.
var floods = []struct {
	name       string
	size, tags int
}{
	{"empty, one tag", 0, 1},
	{"empty, a tag each", 0, 1 << 30},
	{"1 KB, one tag", 1024, 1},
	{"1 KB, 1000 tags", 1024, 1000},
}

const (
	floodSenders = 2
	// floodWindow is how many sends of a sender may be under way.
	floodWindow = 64
	floodKind   = "TEST_FLOOD"
	// floodPromise is pml_unexpected_max, floodFirst pml_credit_first, in bytes.
	floodPromise, floodFirst = 4 << 20, 64 << 10
)

// TestFlood sends a rank that does not receive far more than it has room for. It
// keeps within what package pml states: the promises, and what tables and
// rounding add. The senders are held, and everything arrives in the end, in
// order.
func TestFlood(t *testing.T) {
	for i, f := range floods {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel() // the ranks are processes of their own
			runWithParams(t, "flood", 1+floodSenders, []string{
				fmt.Sprintf("%s=%d", floodKind, i),
				fmt.Sprintf("STRAND_PML_UNEXPECTED_MAX=%d", floodPromise),
				fmt.Sprintf("STRAND_PML_CREDIT_MAX=%d", floodPromise),
				fmt.Sprintf("STRAND_PML_CREDIT_FIRST=%d", floodFirst),
			})
		})
	}
}

// Tags of the messages beside the flood, which have a communicator of their own.
const (
	tagEcho = iota
	tagHeld
	tagGo
)

func flood(ctx context.Context, w *strand.World) error {
	var kind int
	if _, err := fmt.Sscan(os.Getenv(floodKind), &kind); err != nil {
		return err
	}
	control, err := w.Comm().Dup(ctx)
	if err != nil {
		return err
	}
	messages := need.Times(need.Daily(15_000, 30_000), 5_000_000) // what is promised is enough for 9500 empty ones
	if w.Rank() == 0 {
		return takeFlood(ctx, w.Comm(), control, kind, messages)
	}
	return sendFlood(ctx, w.Comm(), control, kind, messages)
}

// sendFlood sends messages, each with its number as far as it has room. When as
// many are under way as may be, it says so and waits for the word.
func sendFlood(ctx context.Context, c, control *strand.Comm, kind, messages int) error {
	f := floods[kind]
	window := make([]strand.Request, 0, floodWindow)
	bufs := make([][]byte, floodWindow)
	for i := range bufs {
		bufs[i] = make([]byte, f.size)
	}
	held := false
	for i := range messages {
		if len(window) == floodWindow {
			if !held {
				held = true
				if err := reportHeld(ctx, control, i, window); err != nil {
					return err
				}
			}
			if err := strand.WaitAll(ctx, window, nil); err != nil {
				return err
			}
			window = window[:0]
		}
		buf := bufs[len(window)]
		if f.size > 0 {
			binary.LittleEndian.PutUint32(buf, uint32(i))
		}
		r, err := c.Isend(buf, 0, i%f.tags)
		if err != nil {
			return err
		}
		if _, done, err := r.Test(); err != nil {
			return err
		} else if done {
			continue
		}
		if !held {
			// After a round trip we know what else the receiver has promised, and what only waited
			// for room on its way has gone.
			if _, err := control.Sendrecv(ctx, nil, 0, tagEcho, nil, 0, tagEcho); err != nil {
				return err
			}
			if _, done, err := r.Test(); err != nil {
				return err
			} else if done {
				continue
			}
		}
		window = append(window, r)
	}
	return strand.WaitAll(ctx, window, nil)
}

// reportHeld tells the receiver how much was sent when no more could be, and
// waits until it starts to receive. Nothing may move in between.
func reportHeld(ctx context.Context, control *strand.Comm, sent int, window []strand.Request) error {
	number := make([]byte, 8)
	binary.LittleEndian.PutUint64(number, uint64(sent))
	if err := control.Send(ctx, number, 0, tagHeld); err != nil {
		return err
	}
	for range 10 {
		if _, err := control.Sendrecv(ctx, nil, 0, tagEcho, nil, 0, tagEcho); err != nil {
			return err
		}
		for i, r := range window {
			if _, done, err := r.Test(); err != nil {
				return fmt.Errorf("send %d of the last %d: %w", i, len(window), err)
			} else if done {
				return fmt.Errorf("send %d of the last %d has completed, but nobody receives", i, len(window))
			}
		}
	}
	if err := control.Send(ctx, number, 0, tagGo); err != nil {
		return err
	}
	_, err := control.Recv(ctx, nil, 0, tagGo)
	return err
}

// takeFlood lets the senders send until they are held, checks what that has cost
// in memory, and then receives everything.
func takeFlood(ctx context.Context, c, control *strand.Comm, kind, messages int) error {
	before := heap()
	sent, err := awaitHeld(ctx, control)
	if err != nil {
		return err
	}
	const promised = floodPromise + floodSenders*floodFirst
	after := heap()
	fmt.Fprintf(os.Stderr, "held at %d messages of %d bytes, which take %d bytes of %d promised\n", sent, floods[kind].size, after-before, promised)
	if limit := int64(2*promised + 1<<20); after-before > limit {
		return fmt.Errorf("the heap has grown by %d bytes, more than %d", after-before, limit)
	}
	for i := range floodSenders {
		if err := control.Send(ctx, nil, i+1, tagGo); err != nil {
			return err
		}
	}
	next := make([]int, 1+floodSenders)
	buf := make([]byte, 2048)
	for range floodSenders * messages {
		st, err := c.Recv(ctx, buf, strand.AnySource, strand.AnyTag)
		if err != nil {
			return err
		}
		i := next[st.Source]
		next[st.Source]++
		f := floods[kind]
		if st.Tag != i%f.tags || st.Count != f.size || f.size > 0 && binary.LittleEndian.Uint32(buf) != uint32(i) {
			return fmt.Errorf("message %d of rank %d came as %+v", i, st.Source, st)
		}
	}
	return nil
}

// awaitHeld answers the senders until none can go on, and returns how much they
// have sent.
func awaitHeld(ctx context.Context, control *strand.Comm) (sent uint64, err error) {
	for held := 0; held < floodSenders; {
		number := make([]byte, 8)
		st, err := control.Recv(ctx, number, strand.AnySource, strand.AnyTag)
		if err != nil {
			return 0, err
		}
		switch st.Tag {
		case tagEcho:
			if err := control.Send(ctx, nil, st.Source, tagEcho); err != nil {
				return 0, err
			}
		case tagHeld:
			sent += binary.LittleEndian.Uint64(number)
		case tagGo:
			held++
		}
	}
	return sent, nil
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
