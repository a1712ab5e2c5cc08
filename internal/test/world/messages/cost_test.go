package messages_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/world"
)

// backlog is a rank that has many receives posted, or many unexpected messages,
// all of its own: each step of its use matches one and puts in another.
type backlog struct {
	testing.TB
	ctx        context.Context
	c          *strand.Comm
	unexpected bool
	tags       []int // by place
	order      []int // of the places
	at         int
	receives   []strand.Request
	source     func(place int) int
}

// backlogShape says what is in a backlog and how it is used.
type backlogShape struct {
	unexpected, oneTag, wildcards bool
	order                         string
}

func (s backlogShape) String() string {
	return fmt.Sprintf("unexpected %v, one tag %v, wildcards %v, %s", s.unexpected, s.oneTag, s.wildcards, s.order)
}

var backlogShapes = func() (all []backlogShape) {
	for _, unexpected := range []bool{false, true} {
		for _, wildcards := range []bool{false, true} {
			for _, order := range []string{"in order", "in reverse", "at random"} {
				all = append(all, backlogShape{unexpected, false, wildcards, order})
			}
			all = append(all, backlogShape{unexpected, true, wildcards, "in order"})
		}
	}
	return all
}()

func newBacklog(t testing.TB, s backlogShape, n int) *backlog {
	w := world.OpenMore(t, 2, strand.WithParam("pml_credit_first", "64M")) // rank 1 says nothing
	b := &backlog{TB: t, ctx: world.Context(t), c: w[0].Comm(), unexpected: s.unexpected}
	b.source = func(place int) int {
		if s.wildcards && place%4 == 0 {
			return strand.AnySource
		}
		return 0
	}
	if s.wildcards {
		_, err := b.c.Irecv(nil, 1, strand.AnyTag)
		require.NoError(t, err)
	}
	b.tags, b.receives = make([]int, n), make([]strand.Request, n)
	for i := range n {
		b.order = append(b.order, i)
		if !s.oneTag {
			b.tags[i] = i
		}
	}
	switch s.order {
	case "in reverse":
		slices.Reverse(b.order)
	case "at random":
		rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { b.order[i], b.order[j] = b.order[j], b.order[i] })
	}
	for i := range n {
		b.put(i)
	}
	return b
}

// put posts the receive of a place, or sends its message.
func (b *backlog) put(place int) {
	var err error
	if b.unexpected {
		err = b.c.Send(b.ctx, nil, 0, b.tags[place])
	} else {
		b.receives[place], err = b.c.Irecv(nil, b.source(place), b.tags[place])
	}
	if err != nil {
		b.Fatal(err)
	}
}

// step matches what is at a place and puts it in again.
func (b *backlog) step() {
	place := b.order[b.at]
	if b.at++; b.at == len(b.order) {
		b.at = 0
	}
	var err error
	if b.unexpected {
		_, err = b.c.Recv(b.ctx, nil, b.source(place), b.tags[place])
	} else if err = b.c.Send(b.ctx, nil, 0, b.tags[place]); err == nil {
		_, err = b.receives[place].Wait(b.ctx)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.put(place)
}

// run times a number of steps.
func (b *backlog) run(steps int) time.Duration {
	start := time.Now()
	for range steps {
		b.step()
	}
	return time.Since(start)
}

// TestCostDoesNotDependOnTheBacklog compares a message's cost with 10 and with 10,000 receives
// posted or messages waiting. Many short runs of both are made in turns, and the best of each
// are compared: a busy machine slows down most of them, but not all of one and none of the
// other. They are made again as long as the result is in doubt. At random 10,000 are all over
// the memory, and part of the cost is that of the processor's caches.
func TestCostDoesNotDependOnTheBacklog(t *testing.T) {
	const steps, runs, attempts = 100, 20, 50
	for _, s := range backlogShapes {
		bound := 2.0
		if s.order == "at random" {
			bound = 2.5 // 1.4 to 1.7 where nothing else uses the caches
		}
		t.Run(s.String(), func(t *testing.T) {
			leak.Check(t) // of both together: they may connect in either order
			few, many := newBacklog(t, s, 10), newBacklog(t, s, 10_000)
			bestFew, bestMany := time.Hour, time.Hour
			for range attempts {
				for range runs {
					bestFew = min(bestFew, few.run(steps))
					bestMany = min(bestMany, many.run(steps))
				}
				if float64(bestMany) <= bound*float64(bestFew) {
					t.Logf("%.0f and %.0f ns a message, %.2f ×", perStep(bestFew, steps), perStep(bestMany, steps),
						float64(bestMany)/float64(bestFew))
					return
				}
			}
			t.Errorf("%.0f ns a message with 10, %.0f with 10,000", perStep(bestFew, steps), perStep(bestMany, steps))
		})
	}
}

func perStep(d time.Duration, steps int) float64 { return float64(d.Nanoseconds()) / float64(steps) }
