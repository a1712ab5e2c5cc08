package pml

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/pml/credit"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// Whatever the networks have to do, a frame goes over one that takes it, is done by the time or
// as soon as any, and has the least to do of those. It waits only if the soonest takes nothing.
func TestChoiceProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) option {
			return option{
				rail:    new(rail),
				load:    float64(rapid.IntRange(0, 1<<20).Draw(t, "load")),
				speed:   rapid.SampledFrom([]float64{0.001, 0.0125, 0.125, 1.25}).Draw(t, "speed"),
				accepts: rapid.Bool().Draw(t, "accepts"),
				end:     rapid.Float64Range(0, 1e8).Draw(t, "end"),
			}
		}), 1, 4).Draw(t, "options")
		n := rapid.IntRange(0, 64<<10).Draw(t, "n")
		soonest := math.Inf(1)
		for _, o := range options {
			soonest = min(soonest, o.done(n))
		}
		var may []option
		for _, o := range options {
			if o.accepts && o.done(n) <= max(o.end, soonest) {
				may = append(may, o)
			}
		}
		chosen := choose(options, n)
		require.Equal(t, len(may) == 0, chosen == nil)
		for _, o := range may {
			if o.rail == chosen {
				for _, other := range may {
					require.LessOrEqual(t, o.done(0), other.done(0))
				}
				return
			}
		}
		require.Nil(t, chosen)
	})
}

// A course is frames of one size that are sent one after the other, as a model.
type course struct {
	pe     *peer
	cables []*cable
	size   int
	window int // how many may be under way, counted in their order; 0: as many as there is room for

	now   float64
	ends  [][]float64 // of each cable: where each frame ends that is not there yet
	which [][]int     // and its number
	there map[int]bool
	next  int // to be given
	done  int // all before are there
}

// run goes on for some nanoseconds and returns how many bytes a nanosecond have come in order.
func (c *course) run(lasts float64) float64 {
	const step = 20_000
	before, start := c.done, c.now
	for ; c.now < start+lasts; c.now += step {
		c.deliver()
		for c.window == 0 || c.next < c.done+c.window {
			r := c.pe.sharedRail(copied(c.size), int64(c.now))
			if r == nil || !c.give(r) {
				break
			}
		}
	}
	return float64((c.done-before)*c.size) / lasts
}

// give puts the next frame onto a rail, unless that holds something already.
func (c *course) give(r *rail) bool {
	i := slices.IndexFunc(c.cables, func(w *cable) bool { return w.rail == r })
	w := c.cables[i]
	if len(w.held) == maxHeld {
		return false
	}
	w.given += float64(c.size)
	w.held = append(w.held, c.size)
	r.line.Take(&delivery.Frame{Frame: btl.Frame{Size: c.size}})
	r.share.gave(c.size, int64(c.now))
	c.ends[i] = append(c.ends[i], w.given)
	c.which[i] = append(c.which[i], c.next)
	c.next++
	return true
}

func (c *course) deliver() {
	for i, w := range c.cables {
		w.advance(c.now)
		for len(w.held) > 0 && w.next() <= c.now {
			oldest := w.rail.line.Newest()
			for oldest.Older() != nil {
				oldest = oldest.Older()
			}
			w.rail.line.Release(oldest)
			w.held = w.held[1:]
		}
		for len(c.ends[i]) > 0 && c.ends[i][0] <= w.passed+1 {
			c.there[c.which[i][0]] = true
			c.ends[i], c.which[i] = c.ends[i][1:], c.which[i][1:]
		}
	}
	for ; c.there[c.done]; c.done++ {
		delete(c.there, c.done)
	}
}

// All networks are kept busy, whatever they claim to carry, and a slow one does not hold up a
// stream of which only so much may be under way.
func TestNetworksAreShared(t *testing.T) {
	const gigabit, second = 0.125, 1e9
	for _, k := range []struct {
		name   string
		speeds []float64
		window int
		least  float64 // of the first one's speed
	}{
		{"two, a stream", []float64{gigabit, gigabit}, 0, 1.9},
		{"two, 16 at a time", []float64{gigabit, gigabit}, 16, 1.9},
		{"three, a stream", []float64{gigabit, gigabit, gigabit}, 0, 2.85},
		{"one is slow, a stream", []float64{gigabit, gigabit / 10}, 0, 0.95 * 1.1},
		{"the quickest is slow, a stream", []float64{gigabit / 10, gigabit}, 0, 0.95 * 11},
		{"one is slow, 64 at a time", []float64{gigabit, gigabit / 10}, 64, 0.95 * 1.1},
		{"one is slow, 4 at a time", []float64{gigabit, gigabit / 10}, 4, 0.93},
		{"one is slower, 4 at a time", []float64{gigabit, gigabit / 100}, 4, 0.9},
	} {
		for _, size := range []int{8 << 10, 64 << 10} {
			t.Run(fmt.Sprintf("%s, %d bytes", k.name, size), func(t *testing.T) {
				pe, cables := sharing(t, k.speeds...)
				c := &course{pe: pe, cables: cables, size: size, window: k.window, now: 1, there: make(map[int]bool),
					ends: make([][]float64, len(cables)), which: make([][]int, len(cables))}
				c.run(second / 2)
				require.GreaterOrEqual(t, c.run(second)/k.speeds[0], k.least)
			})
		}
	}
}

// sharing returns a peer with as many networks as there are speeds, in bytes a nanosecond, which
// are not known yet.
func sharing(t *testing.T, speeds ...float64) (*peer, []*cable) {
	eng, err := engine.New(engine.Options{Simulated: true})
	require.NoError(t, err)
	t.Cleanup(eng.Close)
	pe := &peer{pml: &PML{engine: eng, tune: tunables{creditMax: 4 << 20 / credit.Unit}}}
	var cables []*cable
	for _, v := range speeds {
		r := &rail{weight: 1, attr: btl.Attr{MaxFrame: 1 << 20}}
		w := &cable{rail: r, speed: v, buffer: 128 << 10}
		r.gauge = w
		pe.also(r, rails.Up)
		cables = append(cables, w)
	}
	pe.choosePoller()
	return pe, cables
}

// copied is a frame of n bytes that refers to no send's memory.
func copied(n int) *txFrame {
	f := new(txFrame)
	f.Owner, f.Size = f, n
	return f
}

// A message that is alone takes the quickest network, and nobody is asked what is under way.
func TestLoneMessagesTakeTheQuickest(t *testing.T) {
	pe, cables := sharing(t, 0.0125, 0.125)
	for _, w := range cables {
		w.rail.gauge = nil // to ask is a fault
	}
	for _, n := range []int{0, 8, 4 << 10, 16 << 10} {
		require.Same(t, pe.rails[0], pe.railNow(copied(n)))
	}
}

// A network that takes nothing holds up nothing that can go over another one: messages, control
// frames, and pieces of long messages.
func TestABusyNetworkHoldsUpNothingOfTheOthers(t *testing.T) {
	pe, first, _ := receiving(t)
	_, second := secondRail(pe)
	first.result = btl.Busy
	pe.inLane(0)
	pe.sendControl(&wire.Header{Kind: wire.Clear})
	assert.Empty(t, first.sent)
	assert.Len(t, second.sent, 2)

	second.result = btl.Busy
	pe.inLane(0) // for which there is no room now
	require.Equal(t, 1, pe.backlog.Len())
	second.result = btl.Done
	pe.rails[1].busy = false // the transport will say so
	assert.False(t, pe.headOfLine(), "pieces need not wait for it")
	pe.pump()
	assert.Len(t, second.sent, 3)
}

// keeping is an endpoint that has everything still under way.
type keeping scripted

func (k *keeping) Outstanding() int { return len(k.sent) * minPiece }

// A message of more than 64 KB is shared out even if it is sent at once, and its sender's
// memory is not copied for that.
func TestMessagesSentAtOnceAreSharedOut(t *testing.T) {
	pe, first, c := receiving(t)
	_, second := secondRail(pe)
	for i, ep := range []*scripted{first, second} {
		pe.rails[i].attr.EagerLimit, pe.rails[i].attr.MaxFrame, pe.rails[i].gauge = 1<<20, 1<<20, (*keeping)(ep)
	}
	require.NoError(t, pe.credit.Update(1<<16))
	op, err := c.isend(make([]byte, 128<<10), nil, 1, 0, Standard)
	require.NoError(t, err)
	for _, ep := range []*scripted{first, second} {
		require.NotEmpty(t, ep.sent)
		for _, h := range ep.sent {
			assert.Equal(t, wire.Eager, h.Kind)
			assert.True(t, h.IsPart())
		}
	}
	assert.Equal(t, 4, len(first.sent)+len(second.sent))
	assert.Zero(t, pe.pml.copied)
	assert.Zero(t, pe.pml.stats.Cut, "no rail was too small")
	require.False(t, op.done)
	require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
	assert.True(t, op.done)
}

// A message counts where it has gone, not where it would have gone first.
func TestMessagesCountWhereTheyGo(t *testing.T) {
	pe, first, c := receiving(t)
	r, _ := secondRail(pe)
	for _, r := range pe.rails {
		r.attr.EagerLimit, r.attr.MaxFrame = 1<<10, 1<<10
	}
	require.NoError(t, pe.credit.Update(1<<16))
	first.result = btl.Busy
	_, err := c.isend(make([]byte, 1000), nil, 1, 0, Standard)
	require.NoError(t, err)
	assert.Zero(t, pe.rails[0].traffic)
	assert.Equal(t, Traffic{Sent: 1, BytesSent: 1000}, r.traffic)
}

// known gives the rails of cables their speeds, as if they had been measured.
func known(cables []*cable) {
	for _, w := range cables {
		w.rail.gauge = nil
		w.rail.share.drained, w.rail.share.took = memory, memory/w.speed
	}
}

// holding has a rail hold frames of so many bytes in all.
func holding(r *rail, frames, bytes int) {
	for range frames {
		r.line.Take(&delivery.Frame{Frame: btl.Frame{Size: bytes / frames}})
	}
}

// A stream that goes on for long gives a slow network its part. A frame that a send waits for takes it
// only if that is in time for what is known to be sent: the program may send nothing more before.
func TestAwaitedFramesTakeNoSlowNetwork(t *testing.T) {
	pe, cables := sharing(t, 0.125, 0.0125)
	known(cables)
	holding(pe.rails[0], 1, 128<<10)
	const now = 1e9
	pe.since = 1
	f := copied(64 << 10)
	require.Same(t, pe.rails[1], pe.sharedRail(f, now))
	f.op = new(operation)
	require.Same(t, pe.rails[0], pe.sharedRail(f, now))
	f.copy = make([]byte, 1) // which is ready when the transport has passed the frame on
	require.Same(t, pe.rails[1], pe.sharedRail(f, now))
}

// However many messages are cut up while a slow rail has enough to do, it is not thought faster for
// that. One that has nothing to do is, until it gets something.
func TestPassedOverRailsAreThoughtFaster(t *testing.T) {
	pe, cables := sharing(t, 0.125, 0.0125)
	known(cables)
	slow := pe.rails[1]
	holding(slow, maxHeld, 128<<10)
	for range 64 {
		r, _ := pe.dataRail(128<<10, 1)
		require.Same(t, pe.rails[0], r)
	}
	require.InDelta(t, 0.0125, slow.share.speed(), 1e-6)
	for slow.line.Newest() != nil {
		slow.line.Release(slow.line.Newest())
	}
	for range 64 {
		r, _ := pe.dataRail(32<<10, 1)
		require.Same(t, pe.rails[0], r)
	}
	require.Greater(t, slow.share.speed(), 0.0125*1.1)
}

// Messages that wait may be longer together than an int holds that has 32 bits: they may be the same memory.
func TestARailsPartOfVeryMuch(t *testing.T) {
	pe, cables := sharing(t, 0.125, 0.12)
	known(cables)
	pe.rails[0].busy = true
	op := &operation{}
	op.accept = 16 << 30
	pe.streams.push(op)
	r, _ := pe.dataRail(1<<20, 1)
	require.Same(t, pe.rails[1], r)
}
