package coll

import "context"

// What goes by way of rank 0 takes 2(n−1) messages, where algorithms that exchange in rounds take n log₂ n or more. That
// counts where there are more processes than processors: each message is work for one of few
// processors then, and there are no others that could do the rounds' work at the same time.

// collect gathers at rank 0 what the processes have, in memory of the call's.
func collect(ctx context.Context, c Comm, in []byte) ([]byte, error) {
	each := len(in)
	all := c.Scratch(c.Size() * each)
	err := gatherLinear(ctx, bytesOf{c}, in, func(rank int) []byte { return all[rank*each : (rank+1)*each] }, 0)
	return all, err
}

// foldAll combines in the first values those behind them, in the pairs of reduceBinomial.
func foldAll(op Op, all []byte, length int) []byte {
	for apart := length; apart < len(all); apart *= 2 {
		for at := 0; at+apart < len(all); at += 2 * apart {
			op.Fold(all[at:at+length], all[at+apart:at+apart+length], false)
		}
	}
	return all[:length]
}

// answered sends to rank 0 and receives its answer, in memory that may be what is sent.
func answered(ctx context.Context, c Comm, out, answer []byte) error {
	got := c.Scratch(len(answer))
	if err := exchange(ctx, c, out, 0, got, 0); err != nil {
		return err
	}
	copy(answer, got)
	return nil
}

// reduceScatterRooted has rank 0 combine all and give each its part. It keeps the order of ranks.
func reduceScatterRooted(ctx context.Context, c Comm, op Op, in, out []byte, lengths func(rank int) int) error {
	if c.Rank() != 0 {
		return answered(ctx, c, in, out)
	}
	all, err := collect(ctx, c, in)
	if err != nil {
		return err
	}
	return scatterInOrder(ctx, c, foldAll(op, all, len(in)), out, lengths)
}

// scatterInOrder has rank 0 give each process its part, which has a length of its own.
func scatterInOrder(ctx context.Context, c Comm, all, out []byte, lengths func(rank int) int) error {
	at := 0
	return scatterLinear(ctx, bytesOf{c}, func(rank int) []byte { // which is called in the order of ranks
		piece := all[at : at+lengths(rank)]
		at += len(piece)
		return piece
	}, out, 0)
}

// allreduceTree combines along a binomial tree to rank 0, and passes the result back. It keeps the order of ranks.
func allreduceTree(ctx context.Context, c Comm, op Op, acc []byte) error {
	if err := reduceBinomial(ctx, c, op, acc, acc, 0); err != nil {
		return err
	}
	return bcastBinomial(ctx, c, acc, 0)
}

// barrierTree passes empty messages along a binomial tree.
func barrierTree(ctx context.Context, c Comm) error {
	if err := gatherBinomial(ctx, c, nil, nil, 0); err != nil {
		return err
	}
	return bcastBinomial(ctx, c, nil, 0)
}
