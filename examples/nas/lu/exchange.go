package lu

import (
	"context"

	"github.com/strandmp/strand"
)

// Tags: a message's direction.
const (
	tagDown = iota // to the neighbour with the lesser coordinates: north or west
	tagUp
)

// A block is some points of a domain, in all planes.
type block struct{ i, j span }

// exchangeX brings two layers of the solution from north and south, exchangeY from west and east.
func (d *domain) exchangeX(ctx context.Context) error {
	all := span{0, d.ny}
	return d.exchange(ctx, [2]int{d.north, d.south},
		[2]block{{span{0, halo}, all}, {span{d.nx - halo, d.nx}, all}},
		[2]block{{span{-halo, 0}, all}, {span{d.nx, d.nx + halo}, all}})
}

func (d *domain) exchangeY(ctx context.Context) error {
	all := span{0, d.nx}
	return d.exchange(ctx, [2]int{d.west, d.east},
		[2]block{{all, span{0, halo}}, {all, span{d.ny - halo, d.ny}}},
		[2]block{{all, span{-halo, 0}}, {all, span{d.ny, d.ny + halo}}})
}

// exchange sends a block to each of two neighbours, and receives one from each.
func (d *domain) exchange(ctx context.Context, peers [2]int, out, in [2]block) error {
	var requests []strand.Request
	for side, peer := range peers {
		if peer == strand.ProcNull {
			continue
		}
		r, err := strand.Irecv(d.comm, d.in[side][:d.points(in[side])], peer, 1-side)
		if err != nil {
			return err
		}
		s, err := strand.Isend(d.comm, d.pack(out[side], d.out[side]), peer, side)
		if err != nil {
			return err
		}
		requests = append(requests, r, s)
	}
	if err := strand.WaitAll(ctx, requests, nil); err != nil {
		return err
	}
	for side, peer := range peers {
		if peer != strand.ProcNull {
			d.unpack(in[side], d.in[side])
		}
	}
	return nil
}

func (d *domain) points(b block) int { return (b.i.hi - b.i.lo) * (b.j.hi - b.j.lo) * d.size }

func (d *domain) pack(b block, out []state) []state {
	n := 0
	for k := range d.size {
		for j := b.j.lo; j < b.j.hi; j++ {
			n += copy(out[n:], d.u[d.at(b.i.lo, j, k):d.at(b.i.hi, j, k)])
		}
	}
	return out[:n]
}

func (d *domain) unpack(b block, in []state) {
	for k := range d.size {
		for j := b.j.lo; j < b.j.hi; j++ {
			in = in[copy(d.u[d.at(b.i.lo, j, k):d.at(b.i.hi, j, k)], in):]
		}
	}
}

// receive gets what a plane's residual needs from the neighbours that a sweep comes from: a column at i
// and a row at j.
func (d *domain) receive(ctx context.Context, k, tag, fromX, i, fromY, j int) error {
	if fromX != strand.ProcNull {
		column := d.edge[d.j.lo:d.j.hi]
		if _, _, err := strand.Recv(ctx, d.comm, column, fromX, tag); err != nil {
			return err
		}
		for n, v := range column {
			d.rsd[d.at(i, d.j.lo+n, k)] = v
		}
	}
	if fromY == strand.ProcNull {
		return nil
	}
	_, _, err := strand.Recv(ctx, d.comm, d.rsd[d.at(d.i.lo, j, k):d.at(d.i.hi, j, k)], fromY, tag)
	return err
}

// send is the other end of receive.
func (d *domain) send(ctx context.Context, k, tag, toX, i, toY, j int) error {
	if toX != strand.ProcNull {
		column := d.edge[d.j.lo:d.j.hi]
		for n := range column {
			column[n] = d.rsd[d.at(i, d.j.lo+n, k)]
		}
		if err := strand.Send(ctx, d.comm, column, toX, tag); err != nil {
			return err
		}
	}
	if toY == strand.ProcNull {
		return nil
	}
	return strand.Send(ctx, d.comm, d.rsd[d.at(d.i.lo, j, k):d.at(d.i.hi, j, k)], toY, tag)
}
