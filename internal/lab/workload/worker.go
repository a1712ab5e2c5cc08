package workload

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/strandmp/strand"
)

// A worker asks for tasks and checks them.
type worker struct {
	Farm
	comm    *strand.Comm
	content *payload

	// What was asked for and has not come. Receives are in the order in which they were posted.
	// Tasks come in that order too, since all receives are for any tag.
	buffers  [][]byte
	receives []strand.Request
	first    int
	owed     int

	count, sum uint64 // tasks since the last report
	over       bool   // the manager has none left
}

func newWorker(f Farm, c *strand.Comm) *worker {
	w := &worker{Farm: f, comm: c, content: newPayload(f.Size)}
	n := f.Fanout * f.Outstanding
	w.receives = make([]strand.Request, n)
	for range n {
		w.buffers = append(w.buffers, make([]byte, f.Size))
	}
	return w
}

func (w *worker) run(ctx context.Context) error {
	for range w.Outstanding {
		if err := w.ask(ctx); err != nil {
			return err
		}
	}
	for answered := 0; w.owed > 0; {
		slot := w.first
		w.first = (w.first + 1) % len(w.receives)
		w.owed--
		st, err := w.receives[slot].Wait(ctx)
		if err != nil {
			return err
		}
		if err := w.take(w.buffers[slot][:st.Count], st.Tag); err != nil {
			return fmt.Errorf("worker %d: %w", w.comm.Rank(), err)
		}
		if answered++; answered == w.Fanout {
			answered = 0
			if !w.over {
				if err := w.ask(ctx); err != nil {
					return err
				}
			}
		}
	}
	return w.report(ctx, w.doneTag())
}

// ask posts receives for a request's tasks and sends the request.
func (w *worker) ask(ctx context.Context) error {
	for range w.Fanout {
		slot := (w.first + w.owed) % len(w.receives)
		request, err := w.comm.Irecv(w.buffers[slot], 0, strand.AnyTag)
		if err != nil {
			return err
		}
		w.receives[slot] = request
		w.owed++
	}
	return w.report(ctx, w.requestTag())
}

// take checks a task. An empty message says that there are none left.
func (w *worker) take(task []byte, tag int) error {
	if len(task) == 0 {
		w.over = true
		return nil
	}
	number, err := w.content.check(task)
	if err != nil {
		return err
	}
	if want := int(number % uint64(w.Types)); tag != want {
		return fmt.Errorf("task %d came with tag %d: want %d", number, tag, want)
	}
	w.count++
	w.sum += number
	return nil
}

// report tells the manager what was checked since the last report.
func (w *worker) report(ctx context.Context, tag int) error {
	var report [reportBytes]byte
	binary.LittleEndian.PutUint64(report[:], w.count)
	binary.LittleEndian.PutUint64(report[8:], w.sum)
	w.count, w.sum = 0, 0
	return w.comm.Send(ctx, report[:], 0, tag)
}
