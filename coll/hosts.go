package coll

import "context"

// Calls by hosts: first among the processes of each host, then between one of each, and back. What
// goes between hosts goes once for each of them. On a host of the root the root itself leads.

func barrierHosts(ctx context.Context, c Comm, t *Teams) error {
	local, leads := t.form(c, 0)
	if err := gatherBinomial(ctx, local, nil, nil, local.host); err != nil {
		return err
	}
	if leads.at >= 0 {
		if err := barrierDissemination(ctx, leads); err != nil {
			return err
		}
	}
	return bcastBinomial(ctx, local, nil, local.host)
}

func bcastHosts(ctx context.Context, c Comm, t *Teams, buf []byte, root int) error {
	local, leads := t.form(c, root)
	if leads.at >= 0 {
		if err := Bcast(ctx, leads, nil, buf, leads.host); err != nil {
			return err
		}
	}
	return Bcast(ctx, local, nil, buf, local.host)
}

// reduceHosts is for operations that are commutative.
func reduceHosts(ctx context.Context, c Comm, t *Teams, op Op, in, out []byte, root int) error {
	local, leads := t.form(c, root)
	if leads.at < 0 {
		return Reduce(ctx, local, nil, op, in, nil, local.host)
	}
	acc := out
	if c.Rank() != root {
		acc = c.Scratch(len(in))
	}
	if err := Reduce(ctx, local, nil, op, in, acc, local.host); err != nil {
		return err
	}
	return Reduce(ctx, leads, nil, op, acc, out, leads.host)
}

// allreduceHosts is for operations that are commutative.
func allreduceHosts(ctx context.Context, c Comm, t *Teams, op Op, acc []byte) error {
	local, leads := t.form(c, 0)
	if err := Reduce(ctx, local, nil, op, acc, acc, local.host); err != nil {
		return err
	}
	if leads.at >= 0 {
		if err := Allreduce(ctx, leads, nil, op, acc, acc); err != nil {
			return err
		}
	}
	return Bcast(ctx, local, nil, acc, local.host)
}
