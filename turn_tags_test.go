package strand

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A tag of one kind of messages is none of another's, whatever the number of a call.
func TestTagsOfCallsDoNotMeet(t *testing.T) {
	kinds := map[int]string{tagGroup: "group", tagPlaces: "places", tagCommons: "commons", tagAwake: "awake"}
	for _, number := range []int64{0, 1, callTags - 1, callTags, math.MaxInt32, math.MaxInt64, math.MinInt64, -1, math.MinInt32} {
		tag := tagOf(number)
		assert.GreaterOrEqual(t, tag, 0, number)
		assert.Less(t, tag, callTags, number)
		for _, used := range []int{tag, tagAnswer + tag} {
			assert.NotContains(t, kinds, used, number)
		}
		assert.Less(t, tag, tagAnswer)
		assert.Less(t, tagAnswer+tag, tagPlaces)
	}
}

// A call that goes on by itself may last for as long as a million others take, some seconds. None of them takes its messages.
func TestACallThatLasts(t *testing.T) {
	w, ctx := halves(t), t.Context()
	for rank := range w {
		defer w[rank].drop()
		w[rank].choice.Allreduce = "rabenseifner" // which has several messages between two ranks
	}
	held, goOn := make(chan struct{}), make(chan struct{})
	hold := sync.OnceFunc(func() {
		close(held)
		<-goOn
	})
	release := sync.OnceFunc(func() { close(goOn) })
	defer release()
	ops := []Op[int]{Sum[int](), NewOp(func(a, b int) int { hold(); return a + b }, true)}
	var lasting [2]Request
	var sums [2][]int
	for rank, c := range []*Comm{w[0].Comm(), w[1].Comm()} {
		sums[rank] = make([]int, 2)
		var err error
		lasting[rank], err = Iallreduce(c, ops[rank], []int{1 + rank, 10 + rank}, sums[rank])
		require.NoError(t, err)
	}
	<-held
	for _, others := range []int64{1 << 10, 1 << 20, 1 << 24} {
		var making sync.WaitGroup
		for rank := range w {
			c := w[rank].Comm()
			c.turn.calls = others // there were so many since, and the first one
			making.Go(func() {
				out := make([]int, 2)
				assert.NoError(t, Allreduce(ctx, c, Sum[int](), []int{100 * (1 + rank), 1000 * (1 + rank)}, out))
				assert.Equal(t, []int{300, 3000}, out, "rank %d, after %d calls", rank, others)
			})
		}
		making.Wait()
	}
	release()
	for rank := range w {
		_, err := lasting[rank].Wait(ctx)
		require.NoError(t, err)
		assert.Equal(t, []int{3, 21}, sums[rank], "rank %d", rank)
	}
}
