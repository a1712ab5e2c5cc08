package match

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A receive that takes a message and ends without it leaves no trace: what is received from
// then on, and in what order, is as if that receive had never been. There is one exception. If
// a receive took the message by its tag while older ones were missing, nobody knows, once these
// have come, whether it was ready before messages of other senders.
func TestReturnProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const sources, tags, lanes = 2, 3, 2
		type arrival struct {
			source, lane int
			m            Message
		}
		var flying []arrival
		var seq, laneSeq [sources][lanes + 1]uint32
		for range rapid.IntRange(1, 25).Draw(t, "messages") {
			source, tag := rapid.IntRange(0, sources-1).Draw(t, "source"), rapid.IntRange(0, tags-1).Draw(t, "tag")
			lane := tag % lanes
			flying = append(flying, arrival{source, lane, Message{Tag: int32(tag), Seq: seq[source][lanes], LaneSeq: laneSeq[source][lane]}})
			seq[source][lanes]++
			laneSeq[source][lane]++
		}
		flying = rapid.Permutation(flying).Draw(t, "order of arrival")
		relaxed := rapid.Bool().Draw(t, "relaxed")

		type receiver struct {
			c     *Context
			lanes [sources][lanes]Lane
			got   *Message // by the receive that is to end
		}
		with, without := new(receiver), new(receiver)
		for _, r := range []*receiver{with, without} {
			r.c = NewContext(func(_ *Recv, m *Message) { r.got = m })
			if relaxed {
				r.c.Relax()
			}
		}
		anySource := -1
		pattern := func() Recv {
			return Recv{Source: int32(rapid.IntRange(anySource, sources-1).Draw(t, "from")), Tag: int32(rapid.IntRange(-1, tags-1).Draw(t, "with"))}
		}
		var ending *Recv
		end := func() {
			switch {
			case ending == nil:
			case with.got != nil:
				m, knew := with.got, with.got.seqAt != 0
				with.c.Return(m)
				if !knew && m.seqReady {
					anySource = 0
				}
			default:
				require.True(t, with.c.Cancel(ending))
			}
			with.got, ending = nil, nil
		}
		for len(flying) > 0 {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				end()
			case 1:
				if ending == nil {
					r := pattern()
					ending, with.got = &r, with.c.Post(&r)
				}
			default:
				a := flying[0]
				flying = flying[1:]
				for _, r := range []*receiver{with, without} {
					m := a.m
					require.NoError(t, r.c.channel(int32(a.source)).Arrive(&r.lanes[a.source][a.lane], &m))
				}
			}
		}
		end()
		for with.c.waiting > 0 || without.c.waiting > 0 {
			p := pattern()
			q := p
			x, y := with.c.Post(&p), without.c.Post(&q)
			require.Equal(t, x == nil, y == nil)
			if x == nil {
				require.True(t, with.c.Cancel(&p))
				require.True(t, without.c.Cancel(&q))
				continue
			}
			require.Equal(t, [3]int64{int64(y.Source), int64(y.Tag), int64(y.Seq)}, [3]int64{int64(x.Source), int64(x.Tag), int64(x.Seq)})
		}
	})
}

// A receive that was posted meanwhile gets the message that comes back.
func TestReturnToAPostedReceive(t *testing.T) {
	var matches []*Recv
	c := NewContext(func(r *Recv, _ *Message) { matches = append(matches, r) })
	var lane Lane
	first, second := &Recv{Source: 1, Tag: 1}, &Recv{Source: Any, Tag: Any}
	require.Nil(t, c.Post(first))
	require.Nil(t, c.Post(second))
	m := &Message{Tag: 1}
	require.NoError(t, c.channel(1).Arrive(&lane, m))
	c.Return(m)
	require.Equal(t, []*Recv{first, second}, matches)
}
