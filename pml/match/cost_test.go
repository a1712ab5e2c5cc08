package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/strandmp/strand/internal/test/need"
)

const benchLanes = 10

// queue is a context with a queue of constant length, in steady state: each step
// takes one out and puts it in again.
type queue struct {
	c        *Context
	lanes    [benchLanes]Lane
	laneSeq  [benchLanes]uint32
	seq      uint32
	tags     []int32 // of the receives or messages in the queue
	order    []int   // in which they are asked for
	at       int
	receives []Recv
	messages []Message
	spare    Message
	probe    Recv
}

// workload says what is in the queue and how it is asked for.
type workload struct {
	unexpected bool // messages, else receives
	length     int
	oneTag     bool
	wildcards  bool // every fourth receive takes any source; one any tag, of a silent peer
	order      string
}

func (w workload) String() string {
	name := map[bool]string{true: "unexpected", false: "posted"}[w.unexpected]
	tags := map[bool]string{true: "one_tag", false: "tags"}[w.oneTag]
	if w.wildcards {
		tags += "_wildcards"
	}
	return fmt.Sprintf("%s/%s/%s/%d", name, tags, w.order, w.length)
}

func newQueue(w workload) *queue {
	n := w.length
	q := &queue{c: NewContext(func(*Recv, *Message) {}), tags: make([]int32, n), receives: make([]Recv, n), messages: make([]Message, n)}
	for i := range n {
		if !w.oneTag {
			q.tags[i] = int32(i)
		}
		q.order = append(q.order, i)
	}
	switch w.order {
	case "reverse":
		slices.Reverse(q.order)
	case "random":
		rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { q.order[i], q.order[j] = q.order[j], q.order[i] })
	}
	if w.wildcards {
		q.c.Post(&Recv{Source: 99, Tag: Any})
	}
	for i := range n {
		if w.unexpected {
			q.arrive(&q.messages[i], q.tags[i])
			continue
		}
		q.receives[i] = Recv{Source: 1, Tag: q.tags[i]}
		if w.wildcards && i%4 == 0 {
			q.receives[i].Source = Any
		}
		q.c.Post(&q.receives[i])
	}
	if w.unexpected && w.wildcards {
		q.probe.Source = Any
	} else {
		q.probe.Source = 1
	}
	return q
}

func (q *queue) arrive(m *Message, tag int32) {
	lane := int(tag) % benchLanes
	m.Tag, m.Seq, m.LaneSeq = tag, q.seq, q.laneSeq[lane]
	q.seq++
	q.laneSeq[lane]++
	if err := q.c.channel(1).Arrive(&q.lanes[lane], m); err != nil {
		panic(err)
	}
}

func (q *queue) next() int {
	i := q.order[q.at]
	if q.at++; q.at == len(q.order) {
		q.at = 0
	}
	return i
}

// stepPosted has the message arrive that a receive of the queue waits for, and
// posts the receive again.
func (q *queue) stepPosted() {
	r := &q.receives[q.next()]
	q.arrive(&q.spare, r.Tag)
	if r.Posted() {
		panic("another receive was matched")
	}
	q.c.Post(r)
}

// stepUnexpected receives a message of the queue and has it arrive again.
func (q *queue) stepUnexpected() {
	q.probe.Tag = q.tags[q.next()]
	m := q.c.Post(&q.probe)
	if m == nil {
		panic("a message was not there")
	}
	q.arrive(m, m.Tag)
}

func (q *queue) step(unexpected bool) {
	if unexpected {
		q.stepUnexpected()
	} else {
		q.stepPosted()
	}
}

func workloads(lengths ...int) []workload {
	var all []workload
	for _, unexpected := range []bool{false, true} {
		for _, length := range lengths {
			for _, wildcards := range []bool{false, true} {
				for _, order := range []string{"in_order", "reverse", "random"} {
					all = append(all, workload{unexpected: unexpected, length: length, wildcards: wildcards, order: order})
				}
			}
			all = append(all, workload{unexpected: unexpected, length: length, oneTag: true, order: "in_order"})
		}
	}
	return all
}

func BenchmarkMessage(b *testing.B) {
	for _, w := range workloads(10, 1000, 10_000, 50_000) {
		b.Run(w.String(), func(b *testing.B) {
			q := newQueue(w)
			b.ReportAllocs()
			for b.Loop() {
				q.step(w.unexpected)
			}
		})
	}
}

// Tags that are used once leave nothing behind.
func BenchmarkTagsUsedOnce(b *testing.B) {
	q := newQueue(workload{length: 10, order: "in_order"})
	b.ReportAllocs()
	tag := int32(100)
	for b.Loop() {
		q.arrive(&q.spare, tag)
		q.probe.Tag = tag
		q.c.Post(&q.probe)
		tag = (tag + 1) & (1<<31 - 1)
	}
}

// Every second message overtakes the one before; receives are posted for both.
func BenchmarkReordered(b *testing.B) {
	c := NewContext(func(*Recv, *Message) {})
	var lane Lane
	receives := [2]Recv{{Source: 1, Tag: 0}, {Source: 1, Tag: 0}}
	var messages [2]Message
	n := uint32(0)
	b.ReportAllocs()
	for b.Loop() {
		for i := range 2 {
			c.Post(&receives[i])
			j := n + uint32(1-i)
			messages[i] = Message{Seq: j, LaneSeq: j}
			if err := c.channel(1).Arrive(&lane, &messages[i]); err != nil {
				b.Fatal(err)
			}
		}
		n += 2
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	for _, w := range workloads(10, 1000) {
		q := newQueue(w)
		if n := testing.AllocsPerRun(5000, func() { q.step(w.unexpected) }); n > 0 {
			t.Errorf("%v: %v allocations a message", w, n)
		}
	}
}

// medians times a few runs of two queues in turns and returns the middle one of
// each, for a step.
func medians(a, b *queue, unexpected bool) (ofA, ofB float64) {
	const steps, runs = 500, 21
	var times [2][runs]float64
	for i := range runs {
		for j, q := range []*queue{a, b} {
			start := time.Now()
			for range steps {
				q.step(unexpected)
			}
			times[j][i] = float64(time.Since(start).Nanoseconds()) / steps
		}
	}
	slices.Sort(times[0][:])
	slices.Sort(times[1][:])
	return times[0][runs/2], times[1][runs/2]
}

// The cost of a message does not depend on the length of the queue. With 10,000 it is up to 1.8
// times that with 10, because of the processor's caches; a walk along the queue would cost a
// thousand times as much. Both are measured in turns, so that a busy machine slows down both,
// and again as long as the result is in doubt. The bounds have slack: 4 in the long form, and
// 16 in the short one, beside which other programs may take the caches (5 times were seen
// beside a compiler).
func TestCostDoesNotDependOnLength(t *testing.T) {
	const attempts = 50
	bound := float64(need.Times(16, 4))
	short, long := workloads(10), workloads(10_000)
	for i, w := range long {
		few, many := newQueue(short[i]), newQueue(w)
		costs := make([]float64, 0, attempts)
		for len(costs) < attempts {
			ofFew, ofMany := medians(few, many, w.unexpected)
			costs = append(costs, ofMany/ofFew)
			if ofMany <= bound*ofFew {
				break
			}
		}
		t.Logf("%v: %.2f times the cost of 10", w, costs)
		if slices.Min(costs) > bound {
			t.Errorf("%v: at the least %.2f times the cost of 10", w, slices.Min(costs))
		}
	}
}
