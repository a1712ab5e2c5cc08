package coll

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// What the tests make is of no use a moment later. In a short run there is little of it, and half of the time would go into collecting that.
func TestMain(m *testing.M) {
	if !need.Soaking() {
		debug.SetGCPercent(1000)
	}
	os.Exit(m.Run())
}

// A network joins processes that are goroutines: whatever is sent waits where it is until it is received. So who changes it before its Wait has
// returned is found.
type network struct {
	mu     sync.Mutex
	come   []*sync.Cond        // to each, or taken from it
	queues map[[2]int][][]byte // from, to
	failed error
}

func newNetwork(size int) *network {
	n := &network{queues: map[[2]int][][]byte{}}
	for range size {
		n.come = append(n.come, sync.NewCond(&n.mu))
	}
	return n
}

// A node is a process.
type node struct {
	*network
	rank, size int
	posted     []posted
	teams      *Teams
	stand      *stand // nil: nothing is shared
}

type posted struct {
	buf  []byte
	from int
}

func (p *node) Rank() int     { return p.rank }
func (p *node) Size() int     { return p.size }
func (p *node) Teams() *Teams { return p.teams }

func (p *node) Commons() Commons {
	if p.stand == nil {
		return nil
	}
	return p.stand
}
func (p *node) Scratch(n int) []byte { return make([]byte, n) }

func (p *node) Send(buf []byte, to int) error {
	if to < 0 || to >= p.size || to == p.rank {
		return fmt.Errorf("rank %d sends to %d of %d", p.rank, to, p.size)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := [2]int{p.rank, to}
	p.queues[key] = append(p.queues[key], buf)
	p.come[to].Signal()
	return nil
}

func (p *node) Recv(buf []byte, from int) error {
	if from < 0 || from >= p.size || from == p.rank {
		return fmt.Errorf("rank %d receives from %d of %d", p.rank, from, p.size)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	earlier := slices.ContainsFunc(p.posted, func(r posted) bool { return r.from == from })
	if !earlier && len(p.queues[[2]int{from, p.rank}]) > 0 {
		return p.take(posted{buf, from}) // as a message does that came before its receive
	}
	p.posted = append(p.posted, posted{buf, from})
	return nil
}

// take receives a message that has come.
func (p *node) take(r posted) error {
	key := [2]int{r.from, p.rank}
	got := p.queues[key][0]
	p.queues[key] = p.queues[key][1:]
	if len(got) != len(r.buf) {
		return fmt.Errorf("rank %d gets %d bytes from %d, wants %d", p.rank, len(got), r.from, len(r.buf))
	}
	copy(r.buf, got)
	p.come[r.from].Signal()
	return nil
}

// sends reports whether something that this process has sent is not received yet.
func (p *node) sends() bool {
	for to := range p.size {
		if len(p.queues[[2]int{p.rank, to}]) > 0 {
			return true
		}
	}
	return false
}

func (p *node) Wait(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.posted {
		key := [2]int{r.from, p.rank}
		for len(p.queues[key]) == 0 {
			if p.failed != nil {
				return p.failed
			}
			p.come[p.rank].Wait()
		}
		if err := p.take(r); err != nil {
			return err
		}
	}
	p.posted = p.posted[:0]
	for p.sends() {
		if p.failed != nil {
			return p.failed
		}
		p.come[p.rank].Wait()
	}
	return nil
}

// together has n processes make a call, and fails the test if one of them fails, or if something
// that was sent is never received.
func together(t *testing.T, n int, call func(c Comm) error) {
	t.Helper()
	togetherOn(t, n, nil, call)
}

// togetherOn is together of processes that know where they are.
func togetherOn(t *testing.T, n int, places *Places, call func(c Comm) error) {
	t.Helper()
	net := newNetwork(n)
	errs := make([]error, n)
	var calls sync.WaitGroup
	var failed error
	square := newSquare(n, &failed)
	for rank := range n {
		p := &node{network: net, rank: rank, size: n, teams: &Teams{Places: places}}
		if places == nil || len(places.members) == 1 {
			p.stand = &stand{square: square, rank: rank, step: 1, crowded: places != nil && places.Crowded, lends: true}
		}
		calls.Go(func() {
			if errs[rank] = call(p); p.stand != nil {
				p.stand.takeBack()
			}
			if errs[rank] != nil {
				square.mu.Lock()
				failed = errors.New("another process has failed")
				square.changed.Broadcast()
				square.mu.Unlock()
				net.mu.Lock()
				net.failed = errors.New("another process has failed")
				for _, c := range net.come {
					c.Broadcast()
				}
				net.mu.Unlock()
			}
		})
	}
	calls.Wait()
	require.NoError(t, errors.Join(errs...))
	for key, queue := range net.queues {
		require.Empty(t, queue, "from %d to %d: sent, and never received", key[0], key[1])
	}
}

// contribution is what a process gives: each has its own.
func contribution(rank, length int) []byte {
	r := rand.NewPCG(uint64(rank), uint64(length))
	b := make([]byte, (length+7)/8*8)
	for i := 0; i < length; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], r.Uint64())
	}
	return b[:length]
}

// sum adds numbers of four bytes; affine composes x → ax+b modulo 2^32, whose order matters.
var (
	sum = Op{Size: 4, Commutative: true, Fold: func(acc, in []byte, _ bool) {
		for i := 0; i < len(acc); i += 4 {
			binary.LittleEndian.PutUint32(acc[i:], binary.LittleEndian.Uint32(acc[i:])+binary.LittleEndian.Uint32(in[i:]))
		}
	}}
	affine = Op{Size: 8, Fold: func(acc, in []byte, before bool) {
		for i := 0; i < len(acc); i += 8 {
			first, second := acc[i:i+8], in[i:i+8]
			if before {
				first, second = second, first
			}
			a, b := binary.LittleEndian.Uint32(first), binary.LittleEndian.Uint32(first[4:])
			c, d := binary.LittleEndian.Uint32(second), binary.LittleEndian.Uint32(second[4:])
			binary.LittleEndian.PutUint32(acc[i:], a*c)
			binary.LittleEndian.PutUint32(acc[i+4:], b*c+d)
		}
	}}
)

// folded is what processes 0 to n−1 have together.
func folded(op Op, n, length int) []byte {
	acc := contribution(0, length)
	for rank := 1; rank < n; rank++ {
		op.Fold(acc, contribution(rank, length), false)
	}
	return acc
}

// scanned is, for each of n processes, what it and those before it have together.
func scanned(op Op, n, length int) [][]byte {
	acc := contribution(0, length)
	all := [][]byte{bytes.Clone(acc)}
	for rank := 1; rank < n; rank++ {
		op.Fold(acc, contribution(rank, length), false)
		all = append(all, bytes.Clone(acc))
	}
	return all
}

// sizes are numbers of processes.
func sizes() (all []int) {
	for n := range 33 {
		all = append(all, n+1)
	}
	return all
}

// lengths are those of a contribution, about the borders between algorithms.
var lengths = []int{0, 8, 200, 1000, 12 << 10, 70_000, 520_000, 4 << 20}

// lengthFor is as much as fits into 4 MB that a process has of all, where there are more than eight; in a short run into less, where there are
// more than three. The race detector looks at each byte.
func lengthFor(n, length int) int {
	switch {
	case need.Race && !need.Soaking() && n > 3:
		return min(length, 32<<10/n/8*8)
	case need.Soaking() && n > 8:
		return min(length, 4<<20/n/8*8)
	case !need.Soaking() && n > 3:
		return min(length, 256<<10/n/8*8)
	}
	return length
}

// patterns are ways in which processes share hosts.
var patterns = []func(rank, n int) int{
	func(int, int) int { return 0 },                           // one host
	func(rank, n int) int { return 2 * rank / n },             // two halves
	func(rank, _ int) int { return rank % 3 },                 // round robin
	func(rank, n int) int { return min(1, n-1-rank) },         // one and many
	func(rank, _ int) int { return 7 - bits.Len(uint(rank)) }, // ever more
	func(rank, _ int) int { return rank },                     // each its own
}

func placed(pattern, n int, crowded bool) *Places {
	hosts := make([]int, n)
	for rank := range hosts {
		hosts[rank] = patterns[pattern](rank, n)
	}
	return PlacesOf(hosts, crowded)
}

// places are where processes may be. Only some algorithms care.
func places(name string, n int) []*Places {
	all := []*Places{nil}
	if name != "" && name != "hosts" && name != "tree" && name != "shared" && name != "lent" {
		return all
	}
	for pattern := range patterns {
		all = append(all, placed(pattern, n, true), placed(pattern, n, false))
	}
	return all
}

// each calls f for numbers of processes, lengths, algorithms, roots and places, in a long run for all combinations. In a short
// one each number is tried with each length, and then each pair of two of the first four comes, each algorithm at each place, and most
// lengths and roots there.
func each(t *testing.T, call string, f func(t *testing.T, n, length, root int, ch *Choice, p *Places)) {
	names := append([]string{""}, Algorithms[call]...)
	try := func(t *testing.T, name string, n, length, root int, p *Places) {
		ch := &Choice{Barrier: name, Bcast: name, Reduce: name, Allreduce: name, Gather: name, Scatter: name, Allgather: name, Alltoall: name, ReduceScatter: name}
		if f(t, n, lengthFor(n, length), root, ch, p); t.Failed() {
			t.Fatalf("by %q, %d bytes, root %d, places %+v", name, length, root, p)
		}
	}
	for i, n := range sizes() {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) {
			for j, length := range lengths {
				if !need.Soaking() {
					name, roots := names[(i+j)%len(names)], []int{0, n / 2, n - 1}
					at := places(name, n)
					try(t, name, n, length, roots[(j+i/len(names))%3], at[(6*i+4*j+i/4)%len(at)])
					continue
				}
				for _, name := range names {
					for _, p := range places(name, n) {
						for root := 0; root < n; root += 1 + n/2 {
							try(t, name, n, length, root, p)
						}
					}
				}
			}
		})
	}
}

// A barrier lets nobody go before all have come.
func TestBarrier(t *testing.T) {
	each(t, "barrier", func(t *testing.T, n, _, root int, ch *Choice, p *Places) {
		var come atomic.Int32
		togetherOn(t, n, p, func(c Comm) error {
			for range root { // who is late differs
				runtime.Gosched()
			}
			come.Add(1)
			err := Barrier(t.Context(), c, ch)
			assert.EqualValues(t, n, come.Load())
			return err
		})
	})
}

func TestBcast(t *testing.T) {
	each(t, "bcast", func(t *testing.T, n, length, root int, ch *Choice, p *Places) {
		want := contribution(root, length)
		togetherOn(t, n, p, func(c Comm) error {
			buf := make([]byte, length)
			if c.Rank() == root {
				copy(buf, want)
			}
			err := Bcast(t.Context(), c, ch, buf, root)
			assert.Equal(t, want, buf, "%d of %d", c.Rank(), n)
			return err
		})
	})
}

func TestReduce(t *testing.T) {
	for _, op := range []Op{sum, affine} {
		each(t, "reduce", func(t *testing.T, n, length, root int, ch *Choice, p *Places) {
			want := folded(op, n, length)
			togetherOn(t, n, p, func(c Comm) error {
				var out []byte
				in := contribution(c.Rank(), length)
				if c.Rank() == root {
					out = make([]byte, length)
				}
				err := Reduce(t.Context(), c, ch, op, in, out, root)
				if c.Rank() == root {
					assert.Equal(t, want, out)
				}
				assert.Equal(t, contribution(c.Rank(), length), in, "what is given is left alone")
				return err
			})
		})
	}
}

func TestAllreduce(t *testing.T) {
	for _, op := range []Op{sum, affine} {
		each(t, "allreduce", func(t *testing.T, n, length, root int, ch *Choice, p *Places) {
			want := folded(op, n, length)
			togetherOn(t, n, p, func(c Comm) error {
				in := contribution(c.Rank(), length)
				out := in // in place
				if root > 0 {
					out = make([]byte, length)
				}
				err := Allreduce(t.Context(), c, ch, op, in, out)
				assert.Equal(t, want, out, "%d of %d", c.Rank(), n)
				return err
			})
		})
	}
}

// all is what all processes give, one behind the other.
func all(n, length int) []byte {
	b := []byte{}
	for rank := range n {
		b = append(b, contribution(rank, length)...)
	}
	return b
}

func TestGatherAndScatter(t *testing.T) {
	for _, call := range []string{"gather", "scatter"} {
		each(t, call, func(t *testing.T, n, length, root int, ch *Choice, p *Places) {
			want := all(n, length)
			togetherOn(t, n, p, func(c Comm) error {
				buf, out := []byte(nil), make([]byte, length)
				if c.Rank() == root {
					buf = make([]byte, n*length)
				}
				err := Gather(t.Context(), c, ch, contribution(c.Rank(), length), buf, root)
				if c.Rank() == root {
					assert.Equal(t, want, buf)
				}
				if err == nil {
					err = Scatter(t.Context(), c, ch, buf, out, root)
				}
				assert.Equal(t, contribution(c.Rank(), length), out)
				return err
			})
		})
	}
}

func TestAllgather(t *testing.T) {
	each(t, "allgather", func(t *testing.T, n, length, root int, ch *Choice, p *Places) {
		want := all(n, length)
		togetherOn(t, n, p, func(c Comm) error {
			out := make([]byte, n*length)
			err := Allgather(t.Context(), c, ch, contribution(c.Rank(), length), out)
			assert.Equal(t, want, out)
			return err
		})
	})
}

func TestAlltoall(t *testing.T) {
	each(t, "alltoall", func(t *testing.T, n, length, root int, ch *Choice, p *Places) {
		length /= 8
		togetherOn(t, n, p, func(c Comm) error {
			in, want, out := []byte{}, []byte{}, make([]byte, n*length)
			for r := range n {
				in = append(in, contribution(c.Rank()*n+r, length)...)
				want = append(want, contribution(r*n+c.Rank(), length)...)
			}
			if root > 0 {
				out = in // in place
			}
			err := Alltoall(t.Context(), c, ch, in, out)
			assert.Equal(t, want, out)
			return err
		})
	})
}

// pieces cuts a buffer into pieces of lengths of their own.
func pieces(buf []byte, n int, length func(int) int) [][]byte {
	out := make([][]byte, n)
	for r := range n {
		out[r], buf = buf[:length(r)], buf[length(r):]
	}
	return out
}

func TestPieces(t *testing.T) {
	for _, n := range sizes() {
		length := func(r int) int { return (r * 37 % 5) * 100 }
		total := 0
		for r := range n {
			total += length(r)
		}
		root := n / 2
		together(t, n, func(c Comm) error {
			own := contribution(c.Rank(), length(c.Rank()))
			want := make([][]byte, n)
			for r := range n {
				want[r] = contribution(r, length(r))
			}
			got := pieces(make([]byte, total), n, length)
			err := Allgatherv(t.Context(), c, own, got)
			assert.Equal(t, want, got)
			if err != nil {
				return err
			}
			clear(own)
			if err := Scatterv(t.Context(), c, got, own, root); err != nil {
				return err
			}
			assert.Equal(t, want[c.Rank()], own)
			back := pieces(make([]byte, total), n, length)
			if err := Gatherv(t.Context(), c, own, back, root); err != nil {
				return err
			}
			if c.Rank() == root {
				assert.Equal(t, want, back)
			}
			// All send as much as the receiver's rank says.
			in, out := make([][]byte, n), make([][]byte, n)
			for r := range n {
				in[r], out[r] = contribution(c.Rank()*n+r, length(r)), make([]byte, length(c.Rank()))
			}
			err = Alltoallv(t.Context(), c, nil, in, out)
			for r := range n {
				assert.Equal(t, contribution(r*n+c.Rank(), length(c.Rank())), out[r])
			}
			return err
		})
	}
}

// Pieces that are given and taken in the same memory are taken when they have been given.
func TestPiecesInPlace(t *testing.T) {
	for _, n := range sizes() {
		for _, name := range Algorithms["alltoall"] {
			together(t, n, func(c Comm) error {
				both := make([][]byte, n)
				for r := range n {
					both[r] = contribution(c.Rank()*n+r, (c.Rank()+r)%5*10)
				}
				err := Alltoallv(t.Context(), c, &Choice{Alltoall: name}, both, slices.Clone(both))
				for r := range n {
					assert.Equal(t, contribution(r*n+c.Rank(), (c.Rank()+r)%5*10), both[r], "%s: rank %d of %d, from %d", name, c.Rank(), n, r)
				}
				return err
			})
		}
	}
}

func TestScan(t *testing.T) {
	for _, op := range []Op{sum, affine} {
		for _, n := range sizes() {
			for i, length := range lengths {
				if length = lengthFor(n, length); !need.Soaking() && (n+i)%3 > 0 {
					continue
				}
				want := scanned(op, n, length)
				together(t, n, func(c Comm) error {
					in, out := contribution(c.Rank(), length), make([]byte, length)
					err := Scan(t.Context(), c, op, in, out)
					assert.Equal(t, want[c.Rank()], out)
					if err != nil {
						return err
					}
					before := make([]byte, length)
					err = Exscan(t.Context(), c, op, in, before)
					if c.Rank() > 0 {
						assert.Equal(t, want[c.Rank()-1], before)
					}
					return err
				})
			}
		}
	}
}

func TestReduceScatter(t *testing.T) {
	for _, op := range []Op{sum, affine} {
		each(t, "reducescatter", func(t *testing.T, n, length, root int, ch *Choice, p *Places) {
			lengthOf := func(r int) int { return op.Size * (r * 37 % 5) * (1 + length/1000) }
			total := 0
			for r := range n {
				total += lengthOf(r)
			}
			want := pieces(folded(op, n, total), n, lengthOf)
			togetherOn(t, n, p, func(c Comm) error {
				in := contribution(c.Rank(), total)
				out := make([]byte, lengthOf(c.Rank()))
				if root > 0 {
					out = in[:len(out)] // in place
				}
				err := ReduceScatter(t.Context(), c, ch, op, in, out, lengthOf)
				assert.Equal(t, want[c.Rank()], out, "%d of %d", c.Rank(), n)
				return err
			})
		})
	}
}

func TestCheck(t *testing.T) {
	require.NoError(t, (&Choice{}).Check())
	require.NoError(t, (&Choice{Allreduce: "ring", Bcast: "chain"}).Check())
	assert.ErrorContains(t, (&Choice{Alltoall: "brukc"}).Check(), `alltoall="brukc": want one of spread, pairwise, bruck`)
}
