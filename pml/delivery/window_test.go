package delivery

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// starts are numbers at which a window is begun: near each place where some
// arithmetic wraps around.
var starts = rapid.SampledFrom([]uint32{0, 1<<31 - 40, 1<<31 + 5, 1<<32 - 40, 1<<32 - 1})

// TestSenderProperty compares the window with a list of which frames are
// outstanding, while acknowledgements come late, twice, and out of order.
func TestSenderProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := starts.Draw(t, "start")
		w := Sender{base: start, next: start}
		numbers := make(map[*Frame]uint32)
		var outstanding []uint32 // the model
		var base, next uint64    // how many numbers are done, and given out
		acked := func(f *Frame) {
			i := slices.Index(outstanding, numbers[f])
			require.GreaterOrEqual(t, i, 0, "frame %d was acknowledged before", numbers[f])
			outstanding = slices.Delete(outstanding, i, i+1)
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				for range rapid.IntRange(1, 70).Draw(t, "frames") {
					f := &Frame{sent: true}
					n := w.Add(f)
					require.Equal(t, start+uint32(next), n)
					next++
					numbers[f] = n
					outstanding = append(outstanding, n)
				}
			case 1: // a cumulative one, perhaps older than one before
				at := rapid.Uint64Range(0, next).Draw(t, "cumulative")
				require.NoError(t, w.Acknowledge(start+uint32(at), acked))
				base = max(base, at)
				require.False(t, slices.ContainsFunc(outstanding, func(n uint32) bool { return n-start < uint32(base) }))
			case 2:
				first := rapid.Uint64Range(0, next).Draw(t, "first")
				count := rapid.Uint64Range(0, next-first).Draw(t, "count")
				require.NoError(t, w.AcknowledgeRange(Range{First: start + uint32(first), Count: uint32(count)}, acked))
				if first >= base {
					require.False(t, slices.ContainsFunc(outstanding, func(n uint32) bool {
						return uint64(n-start) >= first && uint64(n-start) < first+count
					}))
				}
			}
			require.Equal(t, start+uint32(base), w.base)
			require.Equal(t, int(next-base), w.Outstanding())
			require.Equal(t, next == base, w.Empty())
			require.Equal(t, missing(start+uint32(base), start+uint32(next), outstanding), append([]Range{}, w.beyond...))
			var left []uint32
			w.Each(func(f *Frame) { left = append(left, numbers[f]) })
			require.True(t, slices.Equal(outstanding, left))
		}
	})
}

// missing are the stretches of numbers from base to next that are not among those outstanding.
func missing(base, next uint32, outstanding []uint32) []Range {
	all := []Range{}
	for n := base; n != next; n++ {
		switch last := len(all) - 1; {
		case slices.Contains(outstanding, n):
		case last >= 0 && all[last].First+all[last].Count == n:
			all[last].Count++
		default:
			all = append(all, Range{n, 1})
		}
	}
	return all
}

// A peer repeats what has arrived beyond a gap while that grows: no frame is looked at again of which it is known.
func TestRangesThatGrow(t *testing.T) {
	var w Sender
	for range 60 {
		w.Add(&Frame{sent: true})
	}
	news := 0
	acknowledge := func(first, count uint32) int {
		t.Helper()
		news = 0
		require.NoError(t, w.AcknowledgeRange(Range{first, count}, func(*Frame) { news++ }))
		for n := first; n < first+count; n++ {
			w.ring[n] = &Frame{} // who looks here again finds a frame that was not sent, which is an error
		}
		return news
	}
	require.Equal(t, 10, acknowledge(1, 10))
	require.Equal(t, 0, acknowledge(1, 10))
	require.Equal(t, 5, acknowledge(1, 15), "it has grown at its end")
	require.Equal(t, 0, acknowledge(3, 5), "an older one")
	require.Equal(t, 4, acknowledge(20, 4))
	require.Equal(t, 4, acknowledge(30, 4))
	require.Equal(t, 17, acknowledge(1, 40), "it has joined others")
	require.Equal(t, 1, acknowledge(50, 1))
	require.Equal(t, 1, acknowledge(49, 2), "it has grown at its front")
	require.Equal(t, []Range{{1, 40}, {49, 2}}, w.beyond)
}

func TestSenderRefuses(t *testing.T) {
	w := Sender{base: 1<<32 - 2, next: 1<<32 - 2}
	for range 5 {
		w.Add(&Frame{sent: true})
	}
	none := func(*Frame) { t.Error("nothing was acknowledged") }
	assert.ErrorContains(t, w.Acknowledge(4, none), "acknowledgement up to frame 4")
	assert.ErrorContains(t, w.Acknowledge(1<<30, none), "are on their way")
	assert.ErrorContains(t, w.AcknowledgeRange(Range{First: 0, Count: 4}, none), "acknowledgement of frames 0 to 4")
	assert.ErrorContains(t, w.AcknowledgeRange(Range{First: 0, Count: 1<<32 - 1}, none), "are on their way")
	assert.ErrorContains(t, w.AcknowledgeRange(Range{First: 4, Count: 1}, none), "are on their way")
	assert.NoError(t, w.AcknowledgeRange(Range{First: 1<<32 - 5, Count: 1}, none), "an old one")
	assert.NoError(t, w.Acknowledge(1<<32-4, none), "an old one")
	assert.Equal(t, 5, w.Outstanding())
}

// TestReceiverProperty compares the window with a set, while frames come in
// any order and again.
func TestReceiverProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := starts.Draw(t, "start")
		w := Receiver{next: start}
		arrived := make(map[uint32]bool)
		span := rapid.Uint32Range(1, 100).Draw(t, "span")
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			n := rapid.Uint32Range(0, span).Draw(t, "number")
			require.Equal(t, arrived[n], w.Has(start+n))
			require.NoError(t, w.add(start+n))
			arrived[n] = true
			checkReceiver(t, &w, start, arrived)
		}
	})
}

func checkReceiver(t *rapid.T, w *Receiver, start uint32, arrived map[uint32]bool) {
	next := uint32(0)
	for arrived[next] {
		next++
	}
	require.Equal(t, start+next, w.next)
	var ranges []Range
	for n := next + 1; n < 200; n++ {
		switch {
		case !arrived[n]:
		case arrived[n-1]:
			ranges[len(ranges)-1].Count++
		default:
			ranges = append(ranges, Range{First: start + n, Count: 1})
		}
	}
	require.True(t, slices.Equal(ranges, w.beyond))
	for n := range uint32(200) {
		if w.Has(start+n) != arrived[n] {
			t.Fatalf("frame %d: arrived is %v", n, arrived[n])
		}
	}
}

func TestReceiverBoundsGaps(t *testing.T) {
	var w Receiver
	for i := range uint32(maxBeyond) {
		if err := w.add(2*i + 1); err != nil {
			t.Fatal(err)
		}
	}
	assert.ErrorContains(t, w.add(1<<22), "frame 4194304 leaves more than 1048576 gaps")
	assert.NoError(t, w.add(2), "it closes one")
}

// Where every second frame of a window is missing and they come in order, each fills the first gap. The others stay where
// they are in memory.
func TestFillingTheFirstGapMovesNoOther(t *testing.T) {
	var w Receiver
	for i := range uint32(10) {
		require.NoError(t, w.add(2*i+1))
	}
	second := &w.beyond[1]
	require.NoError(t, w.add(0))
	require.Equal(t, Range{3, 1}, w.beyond[0])
	assert.Same(t, second, &w.beyond[0])
}

// The memory of a peak is given back when the gaps are filled, or when others come and a few are always left.
func TestMemoryOfGapsIsGivenBack(t *testing.T) {
	const peak = 100_000
	add := func(w *Receiver, n uint32) {
		if err := w.add(n); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ filled, left uint32 }{"all are filled": {peak, 0}, "a few are always left": {2 * peak, 3}} {
		var w Receiver
		for i := range uint32(peak) {
			add(&w, 2*i+1)
		}
		for i := range c.filled {
			if c.left > 0 {
				add(&w, 2*(i+c.left)+1)
			}
			add(&w, 2*i)
		}
		assert.Len(t, w.beyond, int(c.left), name)
		assert.LessOrEqual(t, cap(w.room), keptRanges, name)
	}
}

// In the steady state gaps that come and go take no new memory, one at a time or several.
func TestGapsThatComeAndGoAllocateNothing(t *testing.T) {
	for _, lag := range []uint32{0, 3} {
		var w Receiver
		n := uint32(0)
		comeAndGo := func() {
			if w.add(2*(n+lag)+1) != nil || w.add(2*n) != nil {
				t.Fatal("refused")
			}
			n++
		}
		for i := range lag {
			require.NoError(t, w.add(2*i+1))
		}
		for range 100 {
			comeAndGo()
		}
		assert.Zero(t, testing.AllocsPerRun(1000, comeAndGo), lag)
	}
}

// FuzzAck feeds acknowledgements from the network to a window: whatever they
// say, only frames that are on their way are acknowledged, each once.
func FuzzAck(f *testing.F) {
	f.Add(uint32(1<<32-3), uint8(10), uint32(2), uint32(4), uint32(1), uint32(0), uint32(9))
	f.Add(uint32(0), uint8(200), uint32(100), uint32(150), uint32(50), uint32(1<<31), uint32(1<<31))
	f.Add(uint32(5), uint8(3), uint32(1<<31+5), uint32(5), uint32(1<<32-1), uint32(6), uint32(1<<32-1))
	f.Fuzz(func(t *testing.T, start uint32, frames uint8, cumulative, first1, count1, first2, count2 uint32) {
		w := Sender{base: start, next: start}
		live := make(map[*Frame]bool)
		for range frames {
			f := &Frame{sent: true}
			live[f] = true
			w.Add(f)
		}
		acked := func(f *Frame) {
			if !live[f] {
				t.Fatal("acknowledged twice")
			}
			delete(live, f)
		}
		for _, r := range []Range{{First: first1, Count: count1}, {First: first2, Count: count2}} {
			before := len(live)
			if err := w.AcknowledgeRange(r, acked); err != nil && len(live) != before {
				t.Fatal("refused, but not all of it")
			}
		}
		if err := w.Acknowledge(cumulative, acked); err == nil && w.base != cumulative && int32(cumulative-w.base) > 0 {
			t.Fatalf("taken up to %d of %d", w.base, cumulative)
		}
		if w.Outstanding() > int(frames) {
			t.Fatalf("%d outstanding of %d", w.Outstanding(), frames)
		}
		left := 0
		w.Each(func(f *Frame) {
			if !live[f] {
				t.Fatal("acknowledged, but still there")
			}
			left++
		})
		if left != len(live) {
			t.Fatalf("%d frames in the window, %d not acknowledged", left, len(live))
		}
	})
}
