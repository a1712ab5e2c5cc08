package strand_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/strandtest"
)

// refused returns an error unless err tells of both machines.
func refused(err error, w *strand.World, in representation.Traits) error {
	own := representation.Own()
	if w.Rank() == 1 {
		own ^= in
	}
	here := fmt.Sprintf("this process, rank %d, is %v", w.Rank(), own)
	there := fmt.Sprintf("rank %d on localhost is %v", 1-w.Rank(), own^in)
	if !errors.Is(err, strand.ErrRepresentation) || !strings.Contains(err.Error(), here) || !strings.Contains(err.Error(), there) {
		return fmt.Errorf("got %w, want ErrRepresentation with %q and %q", err, there, here)
	}
	return nil
}

// swap exchanges values with the other rank.
func swap[T comparable](ctx context.Context, c *strand.Comm, values ...T) error {
	got := make([]T, len(values))
	n, _, err := strand.Sendrecv(ctx, c, values, 1-c.Rank(), 2, got, 1-c.Rank(), 2)
	if err == nil && (n != len(got) || !slices.Equal(got, values)) {
		err = fmt.Errorf("got %v, want %v", got[:n], values)
	}
	return err
}

// goOn exchanges what does not depend on the difference, and messages without values.
func goOn(ctx context.Context, c *strand.Comm, in representation.Traits) error {
	err := errors.Join(swap[byte](ctx, c, 1, 2, 3), swap(ctx, c, true, false), swap[int8](ctx, c, -1), swap(ctx, c, [2]int8{3, 4}),
		swap[int](ctx, c), nothing(ctx, c), swapFields(ctx, c, marked{N: 5, Flag: true, Small: [2]int8{1, 2}}, "Small", "Flag"))
	if in&representation.Order == 0 {
		err = errors.Join(err, swap(ctx, c, 1.5, 2.5), swap(ctx, c, [2]uint32{1, 2}), swap(ctx, c, struct{ X, Y float64 }{1, 2}),
			swapFields(ctx, c, bent{3, 4}, "A", "B"))
	}
	return err
}

// marked is a struct with fields that all machines have in one way.
type marked struct {
	N     int
	Flag  bool
	Small [2]int8
}

// swapFields exchanges some fields of a struct.
func swapFields[T comparable](ctx context.Context, c *strand.Comm, value T, fields ...string) error {
	out, got, want := []T{value, value}, make([]T, 3), make([]T, 3)
	all := strand.Join(strand.Fields[T](1, fields...), strand.Fields[T](1, fields...).At(1)).Repeat(1, 1)
	if _, err := c.SendrecvView(ctx, all.Of(out), 1-c.Rank(), 2, all.At(1).Of(got), 1-c.Rank(), 2); err != nil {
		return fmt.Errorf("fields %v of %T: %w", fields, value, err)
	}
	packed := make([]byte, all.Size())
	if _, err := all.Of(out).Pack(packed); err != nil {
		return err
	}
	if _, err := all.At(1).Of(want).Unpack(packed); err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}

// nothing exchanges messages without values that have a receive with room for some.
func nothing(ctx context.Context, c *strand.Comm) error {
	r, err := strand.Issend(c, []int{}, 1-c.Rank(), 2)
	if err != nil {
		return err
	}
	if n, _, err := strand.Recv(ctx, c, make([]int, 3), strand.AnySource, 2); err != nil || n != 0 {
		return fmt.Errorf("%d values of none: %w", n, err)
	}
	_, err = r.Wait(ctx)
	return err
}

// A receiving is a call that receives values from a rank.
type receiving func(ctx context.Context, c *strand.Comm, into []int, from int) error

// ended waits for a request.
func ended(ctx context.Context, r strand.Request, err error) error {
	if err == nil {
		_, err = r.Wait(ctx)
	}
	return err
}

// started starts an operation, and waits for its request.
func started(ctx context.Context, p *strand.Persistent, err error) error {
	if err != nil {
		return err
	}
	r, err := p.Start()
	return ended(ctx, r, err)
}

// probed takes a message, and has it received.
func probed(ctx context.Context, c *strand.Comm, from int, receive func(m *strand.Message) error) error {
	m, err := c.Mprobe(ctx, from, 1)
	if err != nil {
		return err
	}
	return receive(m)
}

// backwards picks the values from the last one on.
func backwards(values []int) strand.View {
	return strand.Contiguous[int](1).Repeat(len(values), -1).At(len(values) - 1).Of(values)
}

var receivings = map[string]receiving{
	"Recv": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		_, _, err := strand.Recv(ctx, c, into, from, 1)
		return err
	},
	"Recv from any": func(ctx context.Context, c *strand.Comm, into []int, _ int) error {
		_, _, err := strand.Recv(ctx, c, into, strand.AnySource, 1)
		return err
	},
	"Irecv": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		r, err := strand.Irecv(c, into, from, 1)
		return ended(ctx, r, err)
	},
	"RecvInit": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		p, err := strand.RecvInit(c, into, from, 1)
		return started(ctx, p, err)
	},
	"RecvMatched": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		return probed(ctx, c, from, func(m *strand.Message) error {
			_, _, err := strand.RecvMatched(ctx, m, into)
			return err
		})
	},
	"IrecvMatched": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		return probed(ctx, c, from, func(m *strand.Message) error {
			r, err := strand.IrecvMatched(m, into)
			return ended(ctx, r, err)
		})
	},
	"RecvView of all": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		_, err := c.RecvView(ctx, strand.ViewOf(into), from, 1)
		return err
	},
	"RecvView": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		_, err := c.RecvView(ctx, backwards(into), from, 1)
		return err
	},
	"RecvView of fields": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		type named struct {
			Name string
			N    int
		}
		_, err := c.RecvView(ctx, strand.Fields[named](len(into), "N").Of(make([]named, len(into))), from, 1)
		return err
	},
	"RecvView of fields and values": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		_, err := c.RecvView(ctx, strand.Join(strand.Fields[marked](1, "Flag"), strand.Contiguous[marked](1).At(1)).Of(make([]marked, 2)), from, 1)
		return err
	},
	"IrecvView": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		r, err := c.IrecvView(backwards(into), from, 1)
		return ended(ctx, r, err)
	},
	"RecvInitView": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		p, err := c.RecvInitView(backwards(into), from, 1)
		return started(ctx, p, err)
	},
	"Message.RecvView": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		return probed(ctx, c, from, func(m *strand.Message) error {
			_, err := m.RecvView(ctx, backwards(into))
			return err
		})
	},
	"Message.IrecvView": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		return probed(ctx, c, from, func(m *strand.Message) error {
			r, err := m.IrecvView(backwards(into))
			return ended(ctx, r, err)
		})
	},
	"Sendrecv": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		_, _, err := strand.Sendrecv(ctx, c, []byte{}, strand.ProcNull, 1, into, from, 1)
		return err
	},
	"SendrecvView": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		_, err := c.SendrecvView(ctx, strand.View{}, strand.ProcNull, 1, backwards(into), from, 1)
		return err
	},
	"SendrecvReplace": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		_, _, err := strand.SendrecvReplace(ctx, c, into, strand.ProcNull, 1, from, 1)
		return err
	},
	"SendrecvReplaceView": func(ctx context.Context, c *strand.Comm, into []int, from int) error {
		_, err := c.SendrecvReplaceView(ctx, backwards(into), strand.ProcNull, 1, from, 1)
		return err
	},
}

// Each call that receives values refuses those of an unlike machine, short and long ones, in the first message between the two and in later ones. Whoever
// takes bytes gets them, and what does not depend on the difference goes on.
func TestValuesOfUnlikeMachines(t *testing.T) {
	for name, receive := range receivings {
		for _, in := range []representation.Traits{representation.Order, representation.Words, representation.Order | representation.Words} {
			t.Run(fmt.Sprintf("%s/%02b", name, in), func(t *testing.T) {
				strandtest.Run(t, 2, func(ctx context.Context, w *strand.World) error {
					for _, n := range []int{3, 3, 50_000} {
						if err := exchangeUnlike(ctx, w, receive, n, in); err != nil {
							return err
						}
					}
					return nil
				}, strand.Unlike(1, in))
			})
		}
	}
}

// exchangeUnlike sends values, which are refused here and there, and then what is not.
func exchangeUnlike(ctx context.Context, w *strand.World, receive receiving, n int, in representation.Traits) error {
	c, other := w.Comm(), 1-w.Rank()
	out, into := slices.Repeat([]int{7}, n), make([]int, n)
	r, err := strand.Isend(c, out, other, 1)
	if err != nil {
		return err
	}
	if err := refused(receive(ctx, c, into, other), w, in); err != nil {
		return err
	}
	if _, err := r.Wait(ctx); err != nil {
		return err
	}
	if err := goOn(ctx, c, in); err != nil {
		return err
	}
	return asBytes(ctx, c, out, into)
}

// asBytes exchanges values by calls that do not know that they are.
func asBytes(ctx context.Context, c *strand.Comm, out, into []int) error {
	o, err := strand.Bytes(out)
	if err != nil {
		return err
	}
	i, err := strand.Bytes(into)
	if err != nil {
		return err
	}
	if _, err = c.Sendrecv(ctx, o, 1-c.Rank(), 3, i, 1-c.Rank(), 3); err == nil && !slices.Equal(into, out) {
		err = fmt.Errorf("got %v, want %v", into[:3], out[:3])
	}
	return err
}

// bent values lie otherwise where words are short.
type bent struct {
	A int32
	B int64
}

// collectives are calls of values in which all ranks have a part.
func collectives(ranks int) map[string]func(ctx context.Context, c *strand.Comm) error {
	part := func() []int { return make([]int, 1) }
	all := func() []int { return make([]int, ranks) }
	views := func() []strand.View {
		list := make([]strand.View, ranks)
		for i := range list {
			list[i] = backwards(make([]int, 2))
		}
		return list
	}
	grid := func(ctx context.Context, c *strand.Comm, do func(g *strand.Cart) error) error {
		g, err := c.Cart(ctx, []int{ranks}, []bool{true})
		if err != nil {
			return err
		}
		if err = do(g); err == nil {
			err = g.Barrier(ctx)
		}
		return err
	}
	sum := strand.Sum[int]()
	return map[string]func(ctx context.Context, c *strand.Comm) error{
		"Bcast":     func(ctx context.Context, c *strand.Comm) error { return strand.Bcast(ctx, c, part(), 0) },
		"Gather":    func(ctx context.Context, c *strand.Comm) error { return strand.Gather(ctx, c, part(), all(), 0) },
		"Scatter":   func(ctx context.Context, c *strand.Comm) error { return strand.Scatter(ctx, c, all(), part(), 0) },
		"Allgather": func(ctx context.Context, c *strand.Comm) error { return strand.Allgather(ctx, c, part(), all()) },
		"Alltoall":  func(ctx context.Context, c *strand.Comm) error { return strand.Alltoall(ctx, c, all(), all()) },
		"Allgatherv": func(ctx context.Context, c *strand.Comm) error {
			return strand.Allgatherv(ctx, c, part(), [][]int{part(), part(), part(), part()})
		},
		"Reduce":    func(ctx context.Context, c *strand.Comm) error { return strand.Reduce(ctx, c, sum, part(), part(), 0) },
		"Allreduce": func(ctx context.Context, c *strand.Comm) error { return strand.Allreduce(ctx, c, sum, part(), part()) },
		"Allreduce, long": func(ctx context.Context, c *strand.Comm) error {
			return strand.Allreduce(ctx, c, sum, make([]int, 50_000), make([]int, 50_000))
		},
		"Allreduce of structs": func(ctx context.Context, c *strand.Comm) error {
			return strand.Allreduce(ctx, c, strand.NewOp(func(a, _ bent) bent { return a }, true), make([]bent, 3), make([]bent, 3))
		},
		"Scan": func(ctx context.Context, c *strand.Comm) error { return strand.Scan(ctx, c, sum, part(), part()) },
		"ReduceScatterBlock": func(ctx context.Context, c *strand.Comm) error {
			return strand.ReduceScatterBlock(ctx, c, sum, all(), part())
		},
		"Iallreduce": func(ctx context.Context, c *strand.Comm) error {
			r, err := strand.Iallreduce(c, sum, part(), part())
			return ended(ctx, r, err)
		},
		"BcastView":     func(ctx context.Context, c *strand.Comm) error { return c.BcastView(ctx, views()[0], 0) },
		"GatherView":    func(ctx context.Context, c *strand.Comm) error { return c.GatherView(ctx, views()[0], views(), 0) },
		"ScatterView":   func(ctx context.Context, c *strand.Comm) error { return c.ScatterView(ctx, views(), views()[0], 0) },
		"AllgatherView": func(ctx context.Context, c *strand.Comm) error { return c.AllgatherView(ctx, views()[0], views()) },
		"AlltoallView":  func(ctx context.Context, c *strand.Comm) error { return c.AlltoallView(ctx, views(), views()) },
		"NeighborAllgather": func(ctx context.Context, c *strand.Comm) error {
			return grid(ctx, c, func(g *strand.Cart) error { return strand.NeighborAllgather(ctx, g, part(), make([]int, 2)) })
		},
		"NeighborAlltoallView": func(ctx context.Context, c *strand.Comm) error {
			return grid(ctx, c, func(g *strand.Cart) error { return g.NeighborAlltoallView(ctx, views()[:2], views()[:2]) })
		},
	}
}

// A collective call of values ends on all ranks with the error of a rank that was given an unlike machine's, also after so many calls that others go by memory,
// and where calls are compared. Those of bytes, and of values that do not depend on the difference, go on.
func TestCollectiveCallsOfUnlikeMachines(t *testing.T) {
	const ranks = 4
	for name, call := range collectives(ranks) {
		for how, v := range map[string]struct {
			before int
			check  string
		}{"by messages": {0, "false"}, "after many": {40, "false"}, "compared": {0, "true"}} {
			t.Run(name+"/"+how, func(t *testing.T) {
				strandtest.Run(t, ranks, func(ctx context.Context, w *strand.World) error {
					c, err := w.Comm().Dup(ctx)
					if err != nil {
						return err
					}
					for range v.before {
						if err := c.Bcast(ctx, make([]byte, 8), 0); err != nil {
							return err
						}
					}
					if err := w.Comm().Barrier(ctx); err != nil { // no rank ends a call of these that another one is in
						return err
					}
					if err = call(ctx, c); err == nil {
						err = c.Barrier(ctx) // this rank's part of the call was over before it heard
					}
					if !errors.Is(err, strand.ErrRepresentation) {
						return fmt.Errorf("got %w, want ErrRepresentation, or another rank's", err)
					}
					total := []float64{0}
					if err := strand.Allreduce(ctx, w.Comm(), strand.Sum[float64](), []float64{1}, total); err != nil || total[0] != ranks {
						return fmt.Errorf("got %v and %w, want %d", total[0], err, ranks)
					}
					return w.Comm().Barrier(ctx)
				}, strand.Unlike(ranks-1, representation.Words), strand.WithParam("coll_check", v.check))
			})
		}
	}
}

// Views of values have other lengths where words are short. That is why they do not fit, and calls that are compared say so on all ranks.
func TestViewsOfUnlikeMachinesAreCompared(t *testing.T) {
	const ranks = 4
	for name, call := range map[string]func(ctx context.Context, c *strand.Comm, n int) error{
		"BcastView": func(ctx context.Context, c *strand.Comm, n int) error {
			return c.BcastView(ctx, backwards(make([]int, n)), 0)
		},
		"AllgatherView": func(ctx context.Context, c *strand.Comm, n int) error {
			out := make([]strand.View, ranks)
			for i := range out {
				out[i] = strand.ViewOf(make([]int, n))
			}
			return c.AllgatherView(ctx, strand.ViewOf(make([]int, n)), out)
		},
	} {
		t.Run(name, func(t *testing.T) {
			strandtest.Run(t, ranks, func(ctx context.Context, w *strand.World) error {
				n := 2
				if w.Rank() == ranks-1 {
					n = 1 // as many bytes as two have there
				}
				if err := call(ctx, w.Comm(), n); !errors.Is(err, strand.ErrRepresentation) {
					return fmt.Errorf("got %w, want ErrRepresentation", err)
				}
				return nil
			}, strand.Unlike(ranks-1, representation.Words), strand.WithParam("coll_check", "true"))
		})
	}
}
