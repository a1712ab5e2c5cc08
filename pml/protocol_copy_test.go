package pml

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/wire"
)

// A message beyond pml_copy_limit is copied where one like it answers, nothing else is on its way to the peer, and an acknowledgement takes longer than that.
func TestMessageThatIsAnsweredByItsLikeIsCopied(t *testing.T) {
	const size = 200 << 10
	for name, tc := range map[string]struct {
		prepare func(pe *peer)
		came    uint64 // since the message before
		size    int
		copies  bool
	}{
		"answered by its like":     {came: size, size: size, copies: true},
		"answered by half as much": {came: size / 2, size: size, copies: true},
		"answered by less":         {came: size/2 - 1, size: size},
		"too long":                 {came: 1 << 20, size: aloneAtMost + 1},
		"not alone":                {came: size, size: size, prepare: func(pe *peer) { pe.sends++ }},
		"a prompt transport":       {came: size, size: size, prepare: func(pe *peer) { pe.rails[0].attr.Latency = 300 * time.Nanosecond }},
		"one that holds frames":    {came: size, size: size, prepare: func(pe *peer) { pe.rails[0].attr.Retains = true }},
		"no copies are made":       {came: size, size: size, prepare: func(pe *peer) { pe.pml.tune.copyLimit = 0 }},
		"little room":              {came: size, size: size, prepare: func(pe *peer) { pe.pml.tune.copyPool = 2*size - 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			pe, ep, c := promptPeer(t, 20*time.Microsecond)
			r := pe.rails[0]
			r.attr = btl.Attr{EagerLimit: 1 << 20, MaxFrame: 1 << 20, Latency: r.attr.Latency}
			pe.pml.tune.copyPool, pe.pml.tune.eagerAwaited = 8<<20, 1<<20
			r.traffic.BytesReceived = 1 << 30
			pe.cameBefore = r.traffic.BytesReceived - tc.came
			if tc.prepare != nil {
				tc.prepare(pe)
			}
			op, err := c.isend(make([]byte, tc.size), nil, 1, 5, Standard)
			require.NoError(t, err)
			require.Equal(t, tc.copies, op.lends(), "a copy completes it")
			require.Equal(t, tc.copies, lastOf(t, ep, wire.Eager).Flags&wire.FlagAckNow == 0)
		})
	}
}

// Who waits for it and for the answer has it copied when the answer is there. The peer is not asked: that takes a frame each way, and longer than the copy.
func TestMessageThatIsAnsweredByItsLikeIsNotAskedFor(t *testing.T) {
	const size = lentAtMost + 1
	pe, ep, c := promptPeer(t, 20*time.Microsecond)
	r := pe.rails[0]
	r.attr.EagerLimit, pe.pml.tune.eagerAwaited = 1<<20, 1<<20
	r.traffic.BytesReceived = size
	op, err := c.isend(make([]byte, size), nil, 1, 5, Standard)
	require.NoError(t, err)
	require.True(t, op.lends())
	ep.sent = nil
	s := (*allOver)(pe.pml.newWaitSet([]Request{requestOf(op)}))
	require.True(t, s.Done())
	require.Empty(t, ep.sent)
	require.Zero(t, pe.lent)
}

// What goes in parts could be copied only before the first of them goes, while the peer waits: over several networks, or over one that takes no
// frame so long.
func TestMessageThatGoesInPartsIsNotCopied(t *testing.T) {
	const size = 200 << 10
	for name, cut := range map[string]func(pe *peer){
		"several networks":    func(pe *peer) { secondRail(pe) },
		"longer than a frame": func(pe *peer) { pe.rails[0].attr.MaxFrame = size - 1 },
	} {
		t.Run(name, func(t *testing.T) {
			pe, _, c := promptPeer(t, 20*time.Microsecond)
			r := pe.rails[0]
			r.attr.EagerLimit, pe.pml.tune.eagerAwaited = 1<<20, 1<<20
			r.traffic.BytesReceived = size
			r.meter = &timed{speed: slowSpeed - 1}
			cut(pe)
			op, err := c.isend(make([]byte, size), nil, 1, 5, Standard)
			require.NoError(t, err)
			require.NotNil(t, op)
			require.False(t, op.done)
			require.Zero(t, pe.pml.copied)
		})
	}
}

// A buffered send has its copy already, and whoever made it waits for nothing.
func TestBufferedMessageIsNotCopiedAgain(t *testing.T) {
	const size = 200 << 10
	pe, _, c := promptPeer(t, 20*time.Microsecond)
	r := pe.rails[0]
	r.attr.EagerLimit, pe.pml.tune.eagerAwaited, pe.pml.tune.bufferedMax = 1<<20, 1<<20, 1<<20
	r.traffic.BytesReceived = size
	_, err := c.isend(make([]byte, size), nil, 1, 5, Buffered)
	require.NoError(t, err)
	require.Equal(t, 1, pe.sends)
	require.Zero(t, pe.pml.copied)
	require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
	require.Zero(t, pe.sends)
	require.Zero(t, pe.pml.buffered)
}

// The next message is asked about anew: what came before this one does not count.
func TestAnswersAreCountedOnce(t *testing.T) {
	pe, _, _ := promptPeer(t, 20*time.Microsecond)
	r := pe.rails[0]
	r.traffic.BytesReceived += 1000
	require.True(t, pe.answersAlike(2000))
	require.False(t, pe.answersAlike(2000))
	r.traffic.BytesReceived += 999
	require.False(t, pe.answersAlike(2000))
}

// What has come counts whatever rail it has come over, and whatever rail the message goes over.
func TestAnswersAreCountedOverAllRails(t *testing.T) {
	pe, _, _ := promptPeer(t, 20*time.Microsecond)
	second, _ := secondRail(pe)
	r := pe.rails[0]
	r.traffic.BytesReceived += 1 << 20
	require.True(t, pe.answersAlike(2000))
	second.traffic.BytesReceived += 999
	require.False(t, pe.answersAlike(2000))
	second.traffic.BytesReceived += 500
	r.traffic.BytesReceived += 500
	require.True(t, pe.answersAlike(2000))
}
