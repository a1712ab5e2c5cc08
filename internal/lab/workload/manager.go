package workload

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/strandmp/strand"
)

// A manager hands out tasks.
type manager struct {
	Farm
	comm    *strand.Comm
	content *payload
	next    int   // task to hand out
	given   []int // tasks, by rank
	done    []int // tasks that were reported as checked, by rank
	slots   []sendRing
}

// A sendRing is the sends to a worker, of which no more are under way than the worker
// can ask for.
type sendRing struct {
	heads    [][numberBytes]byte
	requests []strand.Request
	busy     []bool
	next     int
}

func newManager(f Farm, c *strand.Comm) *manager {
	m := &manager{Farm: f, comm: c, content: newPayload(f.Size), given: make([]int, c.Size()), done: make([]int, c.Size())}
	n := f.Fanout * f.Outstanding
	for range c.Size() {
		m.slots = append(m.slots, sendRing{make([][numberBytes]byte, n), make([]strand.Request, n), make([]bool, n), 0})
	}
	return m
}

// reportBytes is the size of what a worker sends: how many tasks it has checked, and the
// sum of their numbers.
const reportBytes = 16

func (m *manager) run(ctx context.Context) error {
	var report [reportBytes]byte
	sum := uint64(0)
	for working := m.comm.Size() - 1; working > 0; {
		st, err := m.comm.Recv(ctx, report[:], strand.AnySource, strand.AnyTag)
		if err != nil {
			return err
		}
		if st.Count != reportBytes || st.Tag != m.requestTag() && st.Tag != m.doneTag() {
			return fmt.Errorf("worker %d: a report of %d bytes with tag %d: want %d with %d or %d",
				st.Source, st.Count, st.Tag, reportBytes, m.requestTag(), m.doneTag())
		}
		m.done[st.Source] += int(binary.LittleEndian.Uint64(report[:]))
		sum += binary.LittleEndian.Uint64(report[8:])
		if st.Tag == m.doneTag() {
			working--
			continue
		}
		if err := m.answer(ctx, st.Source); err != nil {
			return err
		}
	}
	return m.check(ctx, sum)
}

// answer sends a request's tasks, or empty messages when there are none left.
func (m *manager) answer(ctx context.Context, worker int) error {
	for range m.Fanout {
		ring := &m.slots[worker]
		slot := ring.next
		ring.next = (slot + 1) % len(ring.heads)
		if ring.busy[slot] {
			if _, err := ring.requests[slot].Wait(ctx); err != nil {
				return err
			}
		}
		var pieces [][]byte
		if m.next < m.Tasks {
			number := uint64(m.next)
			binary.LittleEndian.PutUint64(ring.heads[slot][:], number)
			pieces = [][]byte{ring.heads[slot][:], m.content.window(number)}
			m.given[worker]++
		}
		request, err := m.comm.IsendV(pieces, worker, m.next%m.Types)
		if err != nil {
			return err
		}
		m.next = min(m.next+1, m.Tasks)
		ring.requests[slot], ring.busy[slot] = request, true
	}
	return nil
}

// check ends what is under way and compares what workers say with what they got.
func (m *manager) check(ctx context.Context, sum uint64) error {
	for worker := range m.slots {
		for slot, busy := range m.slots[worker].busy {
			if busy {
				if _, err := m.slots[worker].requests[slot].Wait(ctx); err != nil {
					return err
				}
			}
		}
		if m.given[worker] != m.done[worker] {
			return fmt.Errorf("worker %d was given %d tasks and has checked %d", worker, m.given[worker], m.done[worker])
		}
	}
	all := uint64(m.Tasks)
	if want := all * (all - 1) / 2; sum != want {
		return fmt.Errorf("the numbers of the tasks that were checked add up to %d: want %d", sum, want)
	}
	return nil
}
