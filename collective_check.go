package strand

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
	"strings"

	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/pml"
)

// A call is what all processes have to give alike in a collective call.
type call struct {
	name   string
	rooted bool
	root   int
	uneven bool // lengths may differ, but for each
	bytes  int
	of     reflect.Type          // of the values; nil: bytes, or
	views  representation.Traits // what those of views depend on whose lengths are compared
	op     string
	keeps  bool // op keeps the order of ranks
	alone  bool // it goes on by itself
	each   lengths
	also   string
}

// needs is what its values depend on. Where views of any lengths are received each says its own.
func (k *call) needs() representation.Traits {
	if k.of == nil {
		return k.views
	}
	return judge(k.of).needs
}

// lengths are those of what ranks give or get. It is no function, which would have to be allocated for each call.
type lengths struct {
	pieces [][]byte // those of these pieces; or
	views  []View   // of these; or
	counts []int    // so many values for each rank; nil: one
	size   int      // of so many bytes
	differ bool     // they count
}

func (l *lengths) of(rank int) int {
	switch {
	case l.pieces != nil:
		return len(l.pieces[rank])
	case l.views != nil:
		return l.views[rank].Size()
	case l.counts != nil:
		return l.size * l.counts[rank]
	}
	return l.size
}

// misfit is the error for a message of another length than is due.
func (c *Comm) misfit(name string, from int, got, due int64) error {
	return fmt.Errorf("%s: rank %d has sent %d bytes where %d are due on rank %d: the ranks give lengths or roots that do not fit, or make other calls "+
		"(coll_check=on names them)", name, from, got, due, c.rank)
}

// strayed is the error for a rank that has gone on to another call without what is due in this one.
func (c *Comm) strayed(name string, rank int) error {
	return fmt.Errorf("%s: rank %d has made another call without what is due on rank %d: the ranks give lengths or roots that do not fit, or make other calls "+
		"(coll_check=on names them)", name, rank, c.rank)
}

// explained says of a message that was too long what that means in a collective call. It may have been another call's, whose end has
// ended this one.
func (c *Comm) explained(name string, err error) error {
	if e, is := errors.AsType[*TruncateError](err); is && !errors.Is(err, ErrOutOfStep) {
		return fmt.Errorf("%w: %w", c.misfit(name, e.Source, e.Message, e.Buffer), e)
	}
	return err
}

// mostText is the longest description of a call, and mostName that of a name in it: of an operation, or of a type. With
// both, room is left for all else.
const (
	mostText = 400
	mostName = 100
)

// shortened cuts the middle out of a text that is too long. Its sum keeps it apart from others. The end of a name says most: what
// comes before are packages.
func shortened(s string, most int) string {
	if len(s) <= most {
		return s
	}
	sum := fnv.New32a()
	_, _ = io.WriteString(sum, s) // never fails
	gap := fmt.Sprintf("...(sum %08x)...", sum.Sum32())
	left := most - len(gap)
	return strings.ToValidUTF8(s[:left/3]+gap+s[len(s)-(left-left/3):], "?")
}

// text describes the call. Equal ones are equal calls.
func (k *call) text(ranks int) string {
	s := k.name
	if k.rooted {
		s += fmt.Sprintf(" with root %d", k.root)
	}
	if k.op != "" {
		s += " by " + shortened(k.op, mostName)
		if k.keeps {
			s += " in the order of ranks"
		}
	}
	if k.of != nil {
		s += " of values of type " + shortened(k.of.String(), mostName)
	}
	if !k.uneven {
		s += fmt.Sprintf(", %d bytes", k.bytes)
	}
	if k.each.differ {
		sum := fnv.New32a()
		s += ", lengths"
		for rank := range ranks {
			_, _ = fmt.Fprintln(sum, k.each.of(rank)) // never fails
			if rank < 8 {
				s += fmt.Sprintf(" %d", k.each.of(rank))
			}
		}
		s += fmt.Sprintf(" (sum %08x)", sum.Sum32())
	}
	s += k.also
	if k.alone {
		s += ", going on by itself"
	}
	return shortened(s, mostText)
}

// compare finds calls that do not fit, before any message of them is sent: each process tells the next one what it
// has called. Where not all have called the same, two neighbours have not.
func (c *Comm) compare(ctx context.Context, tag int, what call) error {
	n := c.Size()
	if n == 1 {
		return nil
	}
	own, theirs, last := what.text(n), make([]byte, mostText), (c.rank-1+n)%n
	// Between machines that differ in the values the calls need not fit: an int has another length there.
	r, err := c.coll.IrecvAs(pml.As{Needs: what.needs()}, theirs, nil, last, tag)
	if err != nil {
		return err
	}
	if err := c.coll.Send(ctx, []byte(own), nil, (c.rank+1)%n, tag, pml.Standard); err != nil {
		pml.Leave(r)
		return err
	}
	st, err := r.Wait(ctx)
	if err != nil {
		pml.Leave(r)
		return err
	}
	if other := string(theirs[:st.Count]); other != own {
		return fmt.Errorf("collective calls that do not fit: rank %d has called %s, rank %d %s: all ranks make the same calls, in the same order (coll_check)",
			last, other, c.rank, own)
	}
	return nil
}
