package recovery

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A path comes to be slower than probes wait at the most. Who has nothing to say is not asked for ever: each probe would ask for another one,
// since its answer takes longer.
func TestAPathThatCameToBeSlower(t *testing.T) {
	p, got := NewPath[int](Config{Packet: 1000, MostProbe: 250 * time.Millisecond}, NewCubic(1000)), fates{}
	now, trip := ms, 10*ms
	answers, sent := []int64{}, 0 // when each packet's comes
	send := func() {
		p.Send(now, 1000, 0, sent)
		answers = append(answers, now+trip)
		sent++
	}
	told := 0
	until := func(end int64) {
		for ; now < end; now += ms {
			if told < sent && answers[told] <= now {
				p.acknowledge(t, now, got, Range{uint64(told), uint64(told)})
				told++
			}
			if p.Tick(now, got) {
				send()
			}
		}
	}
	send()
	until(10_000 * ms)
	trip = 2000 * ms
	send()
	until(60_000 * ms)
	require.Equal(t, told, sent, "nothing is under way")
	probes := p.Probes
	for range 4 {
		send()
		until(now + 10_000*ms)
	}
	assert.Equal(t, probes, p.Probes)
	trip = 10 * ms
	send()
	until(now + 100*ms)
	assert.Equal(t, 10*ms, p.Least, "what is quicker is noticed at once")
}

// Answers that were late, as of a peer that was stopped, do not make a path a slow one.
func TestAnswersThatWereLate(t *testing.T) {
	var r RoundTrip
	r.add(0, ms, 0)
	for n := range int64(5 * spellSamples) {
		now := (n + 1) * leastSpell / 4
		sample := leastSpell
		if n%spellSamples == 0 {
			sample = 2 * ms
		}
		r.add(now, sample, 0)
		assert.LessOrEqual(t, r.Least, 2*ms, n)
	}
}
