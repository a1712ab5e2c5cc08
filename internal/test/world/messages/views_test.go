package messages_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/world"
)

// drawLayout makes a layout of n values none of which is picked twice.
func drawLayout(t *rapid.T, n int, what string) strand.Layout[int32] {
	block := rapid.SampledFrom([]int{1, 2, 3, 7, 64, 5000}).Draw(t, what+" block")
	whole, rest := n/block, n%block
	if whole == 0 {
		return strand.Contiguous[int32](n).At(rapid.IntRange(0, 3).Draw(t, what+" from"))
	}
	gap := rapid.IntRange(0, 3).Draw(t, what+" gap")
	var l strand.Layout[int32]
	switch rapid.SampledFrom([]string{"vector", "backwards", "columns", "indexed", "subarray"}).Draw(t, what) {
	case "vector":
		l = strand.Vector[int32](whole, block, block+gap)
	case "backwards":
		l = strand.Vector[int32](whole, block, -block-gap).At((whole - 1) * (block + gap))
	case "columns":
		rows := 1
		for rows*rows < whole && whole%(2*rows) == 0 {
			rows *= 2
		}
		columns := whole / rows
		l = strand.Vector[int32](rows, block, columns*(block+gap)).Repeat(columns, block+gap)
	case "indexed":
		blocks := make([]strand.Block, whole)
		for i := range blocks {
			blocks[i] = strand.Block{At: (i ^ 1) * (block + gap), Len: block}
		}
		l = strand.Indexed[int32](blocks...)
	case "subarray":
		l = strand.Subarray[int32]([]int{whole + 1, block + gap}, []int{whole, block}, []int{1, gap})
	}
	return strand.Join(l, strand.Contiguous[int32](rest).At(l.Reach()+gap))
}

// places is where the layout's values are.
func places(t require.TestingT, l strand.Layout[int32]) []int32 {
	all := make([]int32, l.Reach())
	for i := range all {
		all[i] = int32(i)
	}
	at := make([]int32, l.Size()/4)
	b, err := strand.Bytes(at)
	require.NoError(t, err)
	_, err = l.Of(all).Pack(b)
	require.NoError(t, err)
	return at
}

// onAll runs a script over each transport.
func onAll(t *testing.T, script func(*world.Pair)) {
	world.OnTransports(t, script)
	t.Run("udp", func(t *testing.T) {
		w := world.Open(t, 2, strand.WithParam("btl", "udp,self"))
		script(&world.Pair{TB: t, Ctx: world.Context(t), Sender: w[0].Comm(), Receiver: w[1].Comm(), To: 1, From: 0})
	})
}

// What any layout picks arrives where any other one puts it, and nowhere else.
func TestViews(t *testing.T) {
	onAll(t, func(p *world.Pair) {
		rapid.Check(p, func(t *rapid.T) {
			n := rapid.SampledFrom([]int{0, 1, 10, 100, 900, 900, 3000, 3000, 20_000, 90_000}).Draw(t, "values")
			room := n
			if n > 0 && rapid.IntRange(0, 3).Draw(t, "truncated") == 0 {
				room = rapid.IntRange(1, n).Draw(t, "room")
			}
			from, into := drawLayout(t, n, "sent"), drawLayout(t, room, "received")
			require.NoError(t, from.Err())
			require.NoError(t, into.Err())
			sent, got := make([]int32, from.Reach()), make([]int32, into.Reach()+5)
			for i := range sent {
				sent[i] = int32(i*3 + 1)
			}
			out, in := strand.ViewOf(sent), strand.ViewOf(got[:room])
			plainOut := rapid.IntRange(0, 4).Draw(t, "plain out") == 0 && from.Reach() == n
			plainIn := rapid.IntRange(0, 4).Draw(t, "plain in") == 0
			if !plainOut {
				out = from.Of(sent)
			}
			if !plainIn {
				in = into.Of(got)
			}
			exchangeViews(t, p, out, in, n > room)
			checkViews(t, sent, got, place(t, from, n, plainOut), place(t, into, room, plainIn))
		})
	})
}

func place(t *rapid.T, l strand.Layout[int32], n int, plain bool) []int32 {
	if plain {
		return places(t, strand.Contiguous[int32](n))
	}
	return places(t, l)
}

func exchangeViews(t *rapid.T, p *world.Pair, out, in strand.View, truncated bool) {
	var r, s strand.Request
	var err error
	posted := rapid.Bool().Draw(t, "posted")
	if posted {
		r, err = p.Receiver.IrecvView(in, p.From, 1)
		require.NoError(t, err)
	}
	if rapid.Bool().Draw(t, "synchronous") {
		s, err = p.Sender.IssendView(out, p.To, 1)
	} else {
		s, err = p.Sender.IsendView(out, p.To, 1)
	}
	require.NoError(t, err)
	if !posted {
		m, err := p.Receiver.Mprobe(p.Ctx, p.From, 1)
		require.NoError(t, err)
		r, err = m.IrecvView(in)
		require.NoError(t, err)
	}
	st, err := r.Wait(p.Ctx)
	if truncated {
		require.ErrorIs(t, err, strand.ErrTruncated)
	} else {
		require.NoError(t, err)
	}
	require.Equal(t, in.Size(), st.Count)
	_, err = s.Wait(p.Ctx)
	require.NoError(t, err)
}

func checkViews(t *rapid.T, sent, got, from, into []int32) {
	want := make([]int32, len(got))
	for i, at := range into {
		want[at] = sent[from[i]]
	}
	require.True(t, slices.Equal(want, got), "sent %v from %v, received %v at %v", len(sent), len(from), len(got), len(into))
}

// The blocking and the persistent forms do what the others do.
func TestFormsOfViews(t *testing.T) {
	world.OnTransports(t, func(p *world.Pair) {
		matrix, row := []int32{1, 2, 3, 4, 5, 6, 7, 8, 9}, make([]int32, 3)
		column := strand.Vector[int32](3, 1, 3)
		for name, send := range map[string]func(context.Context, strand.View, int, int) error{
			"SendView": p.Sender.SendView, "BsendView": p.Sender.BsendView, "RsendView": p.Sender.RsendView,
		} {
			clear(row)
			in, err := p.Receiver.IrecvView(strand.ViewOf(row), p.From, 3)
			require.NoError(p, err)
			require.NoError(p, send(p.Ctx, column.Of(matrix[1:]), p.To, 3))
			p.Wait(in)
			assert.Equal(p, []int32{2, 5, 8}, row, name)
		}
		for name, start := range map[string]func(strand.View, int, int) (*strand.Persistent, error){
			"SendInitView": p.Sender.SendInitView, "SsendInitView": p.Sender.SsendInitView, "BsendInitView": p.Sender.BsendInitView, "RsendInitView": p.Sender.RsendInitView,
		} {
			room := make([]int32, 7)
			in, err := p.Receiver.RecvInitView(column.Of(room), p.From, 4)
			require.NoError(p, err)
			out, err := start(column.Of(matrix), p.To, 4)
			require.NoError(p, err)
			for range 3 {
				clear(room)
				all, err := strand.StartAll([]*strand.Persistent{in, out}, nil)
				require.NoError(p, err)
				p.Wait(all[0])
				p.Wait(all[1])
				assert.Equal(p, []int32{1, 0, 0, 4, 0, 0, 7}, room, name)
			}
		}
		if p.To != p.From {
			return
		}
		_, err := p.Sender.SendrecvView(p.Ctx, column.Of(matrix[2:]), 0, 5, strand.Vector[int32](3, 1, -1).At(2).Of(row), 0, 5)
		require.NoError(p, err)
		assert.Equal(p, []int32{9, 6, 3}, row)
	})
}

// A blocking receive that is given up leaves the message whole for the next one.
func TestViewsThatGiveUp(t *testing.T) {
	onAll(t, func(p *world.Pair) {
		const n = 300_000
		sent, got := make([]int32, 2*n), make([]int32, 3*n)
		for i := range sent {
			sent[i] = int32(i)
		}
		out, err := p.Sender.IsendView(strand.Vector[int32](n, 1, 2).Of(sent), p.To, 1)
		require.NoError(p, err)
		into := strand.Vector[int32](n, 1, 3).Of(got)
		for patience := 50 * time.Microsecond; ; patience *= 2 {
			ctx, cancel := context.WithTimeout(p.Ctx, patience)
			_, err = p.Receiver.RecvView(ctx, into, p.From, 1)
			if cancel(); err == nil {
				break
			}
			require.ErrorIs(p, err, context.DeadlineExceeded)
		}
		p.Wait(out)
		for i := range n {
			if got[3*i] != int32(2*i) {
				p.Fatalf("value %d is %d", i, got[3*i])
			}
		}
	})
}

// Long messages of short blocks allocate no more than others once memory has been used.
func TestViewsAllocateNothing(t *testing.T) {
	need.CI(t, "counts of allocations need a quiet process")
	world.OnTransports(t, func(p *world.Pair) {
		const n = 1 << 17
		sent, got := make([]float64, 2*n), make([]float64, 2*n)
		allocations := func(out, in strand.View) float64 {
			return testing.AllocsPerRun(50, func() {
				r, err := p.Receiver.IrecvView(in, p.From, 1)
				require.NoError(p, err)
				s, err := p.Sender.IsendView(out, p.To, 1)
				require.NoError(p, err)
				for _, request := range []strand.Request{r, s} { // a context that can end is listened to, which allocates
					_, err = request.Wait(context.Background())
					require.NoError(p, err)
				}
			})
		}
		every := strand.Vector[float64](n, 1, 2)
		plain := allocations(strand.ViewOf(sent[:n]), strand.ViewOf(got[:n]))
		assert.LessOrEqual(p, allocations(every.Of(sent), every.Of(got)), plain+1, "of scattered messages, and of others")
	})
}
