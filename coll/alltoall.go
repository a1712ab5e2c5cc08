package coll

import "context"

// Alltoall gives rank r the r-th part of in, and has the part of rank r in the r-th of out. All
// parts are equally long. In and out are the same memory, or share none.
func Alltoall(ctx context.Context, c Comm, ch *Choice, in, out []byte) error {
	given(ctx)
	n := c.Size()
	each := len(in) / n
	s, way := memoryFor(c, ch.name("alltoall"), each, sharedAlltoall)
	if way == byShowing {
		return alltoallShared(ctx, c, s, in, out, each)
	}
	if same(in, out) {
		in = c.Scratch(len(in))
		copy(in, out)
	}
	if way == byLending {
		return alltoallLent(ctx, c, s, in, out, each)
	}
	switch ch.alltoall(each, n, teamsOf(c)) {
	case "bruck":
		return alltoallBruck(ctx, c, in, out, each)
	case "pairwise":
		return alltoallPairwise(ctx, bytesOf{c}, parted(in, each), parted(out, each))
	}
	return alltoallSpread(ctx, bytesOf{c}, parted(in, each), parted(out, each))
}

// Alltoallv gives rank r the piece in[r], and has that of rank r in out[r], which has its length. These
// are the same memory, or share none.
func Alltoallv(ctx context.Context, c Comm, ch *Choice, in, out [][]byte) error {
	given(ctx)
	if s := commonsOf(c); s != nil && s.Lends() && !named(ch.name("alltoall")) {
		return alltoallvShared(ctx, c, s, in, out)
	}
	k := keep(c, in, out)
	return alltoallOf(ctx, bytesOf{c}, ch, k.piece, listed(out))
}

// A keeper has the pieces of in, with copies of those that would be overwritten before they are sent.
type keeper struct {
	in, out [][]byte
	own     int    // this process's rank, whose piece stays where it is
	room    []byte // the copies, in the order of ranks
}

func keep(c Comm, in, out [][]byte) keeper {
	k := keeper{in: in, out: out, own: c.Rank()}
	if total := k.before(len(in)); total > 0 {
		k.room = c.Scratch(total)
	}
	for r := range in {
		if k.copied(r) {
			copy(k.piece(r), in[r])
		}
	}
	return k
}

// copied reports whether a piece lies where its answer is to lie.
func (k *keeper) copied(r int) bool {
	in, out := k.in[r], k.out[r]
	return r != k.own && len(in) > 0 && len(out) > 0 && &in[0] == &out[0]
}

// before is how many bytes the copies of lower ranks' pieces have. To count them takes less than one message.
func (k *keeper) before(rank int) (bytes int) {
	for r := range rank {
		if k.copied(r) {
			bytes += len(k.in[r])
		}
	}
	return bytes
}

func (k *keeper) piece(r int) []byte {
	if !k.copied(r) {
		return k.in[r]
	}
	return k.room[k.before(r):][:len(k.in[r])]
}

// AlltoallParts is [Alltoallv] for parts of any kind (MPI_Alltoallw), which share no memory.
func AlltoallParts[P any, C Passer[P]](ctx context.Context, c C, ch *Choice, in, out []P) error {
	given(ctx)
	return alltoallOf(ctx, c, ch, listed(in), listed(out))
}

func alltoallOf[P any, C Passer[P]](ctx context.Context, c C, ch *Choice, in, out func(int) P) error {
	if ch.alltoallv(c.Size()) == "pairwise" {
		return alltoallPairwise(ctx, c, in, out)
	}
	return alltoallSpread(ctx, c, in, out)
}

func listed[P any](parts []P) func(int) P { return func(rank int) P { return parts[rank] } }

func parted(buf []byte, each int) func(int) []byte {
	return func(rank int) []byte { return buf[rank*each : (rank+1)*each] }
}

// alltoallPairwise exchanges with one partner each round, further away each time.
func alltoallPairwise[P any, C Passer[P]](ctx context.Context, c C, in, out func(int) P) error {
	n, rank := c.Size(), c.Rank()
	if err := c.Fill(out(rank), in(rank)); err != nil {
		return err
	}
	for i := 1; i < n; i++ {
		to, from := (rank+i)%n, (rank-i+n)%n
		if err := exchange(ctx, c, in(to), to, out(from), from); err != nil {
			return err
		}
	}
	return nil
}

// alltoallSpread begins all at once, each process with another one.
func alltoallSpread[P any, C Passer[P]](ctx context.Context, c C, in, out func(int) P) error {
	n, rank := c.Size(), c.Rank()
	if err := c.Fill(out(rank), in(rank)); err != nil {
		return err
	}
	for i := 1; i < n; i++ {
		from := (rank - i + n) % n
		if err := c.Recv(out(from), from); err != nil {
			return err
		}
	}
	for i := 1; i < n; i++ {
		to := (rank + i) % n
		if err := c.Send(in(to), to); err != nil {
			return err
		}
	}
	return c.Wait(ctx)
}

// alltoallBruck takes ⌈log₂ n⌉ rounds, in each of which half of all goes on: few messages where
// they are short.
func alltoallBruck(ctx context.Context, c Comm, in, out []byte, each int) error {
	n, rank := c.Size(), c.Rank()
	memory := c.Scratch((n + 2*((n+1)/2)) * each)
	held, sent, got := memory[:n*each], memory[n*each:(n+(n+1)/2)*each], memory[(n+(n+1)/2)*each:]
	copy(held, in[rank*each:])
	copy(held[(n-rank)*each:], in[:rank*each])
	for mask := 1; mask < n; mask <<= 1 {
		packed := 0
		for i := mask; i < n; i++ {
			if i&mask != 0 {
				packed += copy(sent[packed:], held[i*each:(i+1)*each])
			}
		}
		if err := exchange(ctx, c, sent[:packed], (rank+mask)%n, got[:packed], (rank-mask+n)%n); err != nil {
			return err
		}
		packed = 0
		for i := mask; i < n; i++ {
			if i&mask != 0 {
				packed += copy(held[i*each:(i+1)*each], got[packed:])
			}
		}
	}
	for i := range n {
		from := (rank - i + n) % n
		copy(out[from*each:(from+1)*each], held[i*each:(i+1)*each])
	}
	return nil
}
