package strand

import (
	"context"
	"fmt"

	"github.com/strandmp/strand/coll"
	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/pml"
)

// The calls below are collective calls of what layouts pick of slices. Each part has a view of its own, as in MPI_Alltoallw: so
// parts may lie in any way, in several slices too, and be of any length, as long as both sides have the same. What is sent and what
// is received share no memory.

// BcastView is [Comm.Bcast] of a view, in pieces if it is long. All ranks' views are equally long; how they lie may differ.
func (c *Comm) BcastView(ctx context.Context, v View, root int) error {
	given.Context(ctx)
	what, err := c.bcastView("BcastView", v, root)
	if err != nil {
		return err
	}
	return c.carry(ctx, what, func(ctx context.Context, k *courier) error { return k.bcastView(ctx, v, root) })
}

// IbcastView is [Comm.BcastView] that goes on by itself.
func (c *Comm) IbcastView(v View, root int) (Request, error) {
	what, err := c.bcastView("IbcastView", v, root)
	if err != nil {
		return Request{}, err
	}
	return c.begin(what, func(ctx context.Context, k *courier) error { return k.bcastView(ctx, v, root) })
}

func (c *Comm) bcastView(name string, v View, root int) (call, error) {
	if err := c.checkRoot(name, root); err != nil {
		return call{}, err
	}
	err := v.sendable(name)
	if root != c.rank {
		err = v.receivable(name)
	}
	return call{name: "BcastView", rooted: true, root: root, bytes: v.Size(), views: v.needs}, err
}

// viewPiece is how much of a view is packed at a time.
const viewPiece = 1 << 20

// bcastView passes pieces. The last one is shorter than the others, or empty: so who gives another length
// finds a piece that does not fit.
func (k *courier) bcastView(ctx context.Context, v View, root int) error {
	var memory []byte
	if v.of != nil {
		memory = k.Scratch(min(v.Size(), viewPiece))
	}
	for at, n := 0, viewPiece; n == viewPiece; at += n {
		n = min(v.Size()-at, viewPiece)
		piece := memory
		if v.of == nil {
			piece = v.memory[at:]
		} else if root == k.comm.rank {
			v.of.Pack(v.base(), at, piece[:n])
		}
		given := k.given
		if err := coll.Bcast(ctx, k, &k.comm.world.choice, piece[:n], root); err != nil {
			return err
		}
		k.given = given // what the algorithm has taken is free again
		if v.of != nil && root != k.comm.rank {
			v.of.Unpack(v.base(), at, piece[:n])
		}
	}
	return nil
}

// GatherView collects in of all processes at the root: that of rank r in out[r], which has its length. Out counts at the root
// alone (MPI_Gatherv with derived types).
func (c *Comm) GatherView(ctx context.Context, in View, out []View, root int) error {
	given.Context(ctx)
	what, err := c.gatherView("GatherView", in, out, root)
	if err != nil {
		return err
	}
	return c.carry(ctx, what, func(ctx context.Context, k *courier) error {
		return coll.GatherParts(ctx, viewCourier{k}, in, out, root)
	})
}

// IgatherView is [Comm.GatherView] that goes on by itself. The slice out is the library's too until it is complete.
func (c *Comm) IgatherView(in View, out []View, root int) (Request, error) {
	what, err := c.gatherView("IgatherView", in, out, root)
	if err != nil {
		return Request{}, err
	}
	return c.begin(what, func(ctx context.Context, k *courier) error {
		return coll.GatherParts(ctx, viewCourier{k}, in, out, root)
	})
}

func (c *Comm) gatherView(name string, in View, out []View, root int) (call, error) {
	err := c.checkRoot(name, root)
	if err == nil {
		err = in.sendable(name)
	}
	if err == nil && root == c.rank {
		err = c.checkViews(name, out, View.receivable, in)
	}
	return call{name: "GatherView", rooted: true, root: root, uneven: true}, err
}

// ScatterView gives each process its part of the root's: rank r has in[r], which counts there alone, in out (MPI_Scatterv with derived
// types).
func (c *Comm) ScatterView(ctx context.Context, in []View, out View, root int) error {
	given.Context(ctx)
	what, err := c.scatterView("ScatterView", in, out, root)
	if err != nil {
		return err
	}
	return c.carry(ctx, what, func(ctx context.Context, k *courier) error {
		return coll.ScatterParts(ctx, viewCourier{k}, in, out, root)
	})
}

// IscatterView is [Comm.ScatterView] that goes on by itself. The slice in is the library's too until it is complete.
func (c *Comm) IscatterView(in []View, out View, root int) (Request, error) {
	what, err := c.scatterView("IscatterView", in, out, root)
	if err != nil {
		return Request{}, err
	}
	return c.begin(what, func(ctx context.Context, k *courier) error {
		return coll.ScatterParts(ctx, viewCourier{k}, in, out, root)
	})
}

func (c *Comm) scatterView(name string, in []View, out View, root int) (call, error) {
	err := c.checkRoot(name, root)
	if err == nil {
		err = out.receivable(name)
	}
	if err == nil && root == c.rank {
		err = c.checkViews(name, in, View.sendable, out)
	}
	return call{name: "ScatterView", rooted: true, root: root, uneven: true}, err
}

// AllgatherView collects in of all processes everywhere: that of rank r in out[r], which has its length (MPI_Allgatherv with derived
// types).
func (c *Comm) AllgatherView(ctx context.Context, in View, out []View) error {
	given.Context(ctx)
	what, err := c.allgatherView("AllgatherView", in, out)
	if err != nil {
		return err
	}
	return c.carry(ctx, what, func(ctx context.Context, k *courier) error { return coll.AllgatherParts(ctx, viewCourier{k}, in, out) })
}

// IallgatherView is [Comm.AllgatherView] that goes on by itself. The slice out is the library's too until it is complete.
func (c *Comm) IallgatherView(in View, out []View) (Request, error) {
	what, err := c.allgatherView("IallgatherView", in, out)
	if err != nil {
		return Request{}, err
	}
	return c.begin(what, func(ctx context.Context, k *courier) error { return coll.AllgatherParts(ctx, viewCourier{k}, in, out) })
}

func (c *Comm) allgatherView(name string, in View, out []View) (call, error) {
	err := c.usable()
	if err == nil {
		err = in.sendable(name)
	}
	if err == nil {
		err = c.checkViews(name, out, View.receivable, in)
	}
	var needs representation.Traits
	for _, v := range out {
		needs |= v.needs
	}
	return call{name: "AllgatherView", uneven: true, each: lengths{views: out, differ: true}, views: needs}, err
}

// AlltoallView gives rank r what in[r] picks, and has what rank r gives in out[r], which has its length (MPI_Alltoallw). So a matrix is
// transposed without packing by hand.
func (c *Comm) AlltoallView(ctx context.Context, in, out []View) error {
	given.Context(ctx)
	what, err := c.alltoallView("AlltoallView", in, out)
	if err != nil {
		return err
	}
	return c.carry(ctx, what, func(ctx context.Context, k *courier) error {
		return coll.AlltoallParts(ctx, viewCourier{k}, &k.comm.world.choice, in, out)
	})
}

// IalltoallView is [Comm.AlltoallView] that goes on by itself. The slices in and out are the library's too until it is complete.
func (c *Comm) IalltoallView(in, out []View) (Request, error) {
	what, err := c.alltoallView("IalltoallView", in, out)
	if err != nil {
		return Request{}, err
	}
	return c.begin(what, func(ctx context.Context, k *courier) error {
		return coll.AlltoallParts(ctx, viewCourier{k}, &k.comm.world.choice, in, out)
	})
}

func (c *Comm) alltoallView(name string, in, out []View) (call, error) {
	err := c.usable()
	if err == nil && len(in) != c.Size() {
		err = fmt.Errorf("%s: %d views to send: want one for each of %d ranks", name, len(in), c.Size())
	}
	if err == nil {
		err = c.checkViews(name, out, View.receivable, in[c.rank])
	}
	if err == nil {
		err = c.checkViews(name, in, View.sendable, out[c.rank])
	}
	return call{name: "AlltoallView", uneven: true}, err
}

// checkViews checks that there is one for each rank, and that this rank's is as long as the other one that it goes to or comes from.
func (c *Comm) checkViews(name string, views []View, usable func(View, string) error, other View) error {
	if len(views) != c.Size() {
		return fmt.Errorf("%s: %d views: want one for each of %d ranks", name, len(views), c.Size())
	}
	for rank, v := range views {
		if err := usable(v, name); err != nil {
			return fmt.Errorf("%w (view %d of %d)", err, rank, len(views))
		}
	}
	if own := views[c.rank]; own.Size() != other.Size() {
		return fmt.Errorf("%s: of this rank, %d, one view has %d bytes and the other %d: want the same number", name, c.rank, own.Size(), other.Size())
	}
	return nil
}

// viewCourier is a courier for views.
type viewCourier struct{ *courier }

var _ coll.Passer[View] = viewCourier{}

// Send implements [coll.Passer].
func (k viewCourier) Send(v View, to int) error {
	if v.of == nil {
		return k.courier.Send(v.memory, to)
	}
	r, err := k.comm.coll.IsendAs(v.of, v.memory, to, k.tag, pml.Standard)
	k.add(r, expected{ofCaller, to}, err)
	return err
}

// Recv implements [coll.Passer].
func (k viewCourier) Recv(v View, from int) error {
	r, err := k.comm.coll.IrecvAs(v.as(), v.memory, nil, from, k.tag)
	k.add(r, expected{v.Size(), from}, err)
	return err
}

// Fill implements [coll.Passer]: it copies what stays on this process, in pieces if both have layouts.
func (k viewCourier) Fill(to, from View) error {
	switch {
	case to.same(from):
	case from.of == nil:
		_, _ = to.Unpack(from.memory)
	case to.of == nil:
		_, _ = from.Pack(to.memory)
	default:
		given := k.given
		piece := k.Scratch(min(from.Size(), viewPiece))
		for at := 0; at < from.Size(); at += len(piece) {
			n := from.of.Pack(from.base(), at, piece)
			to.of.Unpack(to.base(), at, piece[:n])
		}
		k.given = given
	}
	return nil
}
