package match

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scene is a context with names for receives and messages. Every message of a
// tag goes by the lane of that number.
type scene struct {
	t        *testing.T
	c        *Context
	lanes    map[[2]int32]*Lane
	receives map[string]*Recv
	messages map[string]*Message
	got      []string // "receive<message"
}

func newScene(t *testing.T) *scene {
	s := &scene{t: t, lanes: make(map[[2]int32]*Lane), receives: make(map[string]*Recv), messages: make(map[string]*Message)}
	s.c = NewContext(s.matched)
	return s
}

func (s *scene) matched(r *Recv, m *Message) {
	s.got = append(s.got, r.Owner.(string)+"<"+m.Owner.(string))
}

func (s *scene) lane(source, lane int32) *Lane {
	l := s.lanes[[2]int32{source, lane}]
	if l == nil {
		l = &Lane{}
		s.lanes[[2]int32{source, lane}] = l
	}
	return l
}

// post posts a receive; a message that it gets at once is noted like a match.
func (s *scene) post(name string, source, tag int32) {
	r := &Recv{Source: source, Tag: tag, Owner: name}
	s.receives[name] = r
	if m := s.c.Post(r); m != nil {
		s.matched(r, m)
	}
}

func (s *scene) arrive(name string, source, tag int32, seq, laneSeq uint32) {
	m := &Message{Tag: tag, Seq: seq, LaneSeq: laneSeq, Owner: name}
	s.messages[name] = m
	require.NoError(s.t, s.c.channel(source).Arrive(s.lane(source, tag), m))
}

func (s *scene) probe(source, tag int32) string {
	if m := s.c.Probe(source, tag); m != nil {
		return m.Owner.(string)
	}
	return "nothing"
}

// expect checks the matches since the last call.
func (s *scene) expect(matches ...string) {
	s.t.Helper()
	require.Equal(s.t, strings.Join(matches, " "), strings.Join(s.got, " "))
	s.got = nil
}

func TestOfTwoMessagesTheFirstSentIsReceivedFirst(t *testing.T) {
	s := newScene(t)
	s.arrive("b", 1, 7, 1, 1)
	s.post("r", 1, 7)
	s.expect() // b is early in its lane and for its sender
	s.arrive("a", 1, 7, 0, 0)
	s.expect("r<a")
	s.post("q", 1, 7)
	s.expect("q<b")
}

func TestOfTwoReceivesTheFirstPostedGetsTheMessage(t *testing.T) {
	for _, patterns := range [][2][2]int32{
		{{1, 7}, {1, 7}}, {{Any, 7}, {1, 7}}, {{1, Any}, {1, 7}}, {{Any, Any}, {1, 7}},
		{{1, 7}, {Any, Any}}, {{1, Any}, {Any, 7}}, {{Any, 7}, {1, Any}}, {{1, 7}, {Any, 7}},
	} {
		t.Run(fmt.Sprint(patterns), func(t *testing.T) {
			s := newScene(t)
			s.post("r", patterns[0][0], patterns[0][1])
			s.post("q", patterns[1][0], patterns[1][1])
			s.arrive("a", 1, 7, 0, 0)
			s.expect("r<a")
			s.arrive("b", 1, 7, 1, 1)
			s.expect("q<b")
		})
	}
}

func TestTagReadyMessageOvertakes(t *testing.T) {
	s := newScene(t)
	s.post("r", 1, 8)
	s.arrive("b", 1, 8, 1, 0)
	s.expect("r<b")
	require.Equal(t, uint64(1), s.c.Stats.Overtaken)
	s.arrive("a", 1, 7, 0, 0)
	s.post("q", 1, Any)
	s.expect("q<a")
	s.arrive("c", 1, 9, 2, 0)
	require.Equal(t, "c", s.probe(1, Any), "the number of what overtook counts as arrived")
}

func TestSeqReadyBeforeItsLaneIs(t *testing.T) {
	// A lane that two contexts share: what is missing in it is the other's.
	var lane Lane
	s, other := newScene(t), newScene(t)
	m := &Message{Tag: 7, Seq: 0, LaneSeq: 1, Owner: "a"}
	require.NoError(t, s.c.channel(1).Arrive(&lane, m))
	require.Equal(t, "a", s.probe(1, Any))
	s.post("r", 1, 7)
	s.expect("r<a")
	require.Contains(t, lane.early, uint32(1))
	require.Nil(t, lane.early[1], "a message that was received is the caller's again")
	other.post("q", 1, 7)
	require.NoError(t, other.c.channel(1).Arrive(&lane, &Message{Tag: 7, Seq: 0, LaneSeq: 0, Owner: "b"}))
	other.expect("q<b")
	s.expect()
	require.Empty(t, lane.early)
}

func TestLaneReleasesMessagesOfOtherContexts(t *testing.T) {
	var lane Lane
	s, other := newScene(t), newScene(t)
	other.post("q", 1, 7)
	// Of the other context's two, the first is missing; of the lane, number 0.
	require.NoError(t, other.c.channel(1).Arrive(&lane, &Message{Tag: 7, Seq: 1, LaneSeq: 1, Owner: "b"}))
	other.expect()
	require.NoError(t, s.c.channel(1).Arrive(&lane, &Message{Tag: 7, Seq: 0, LaneSeq: 0, Owner: "a"}))
	other.expect("q<b")
	require.Equal(t, "a", s.probe(Any, Any))
}

func TestAnyTagWaitsForWhatIsMissing(t *testing.T) {
	s := newScene(t)
	s.arrive("b", 1, 8, 1, 0)
	require.Equal(t, "nothing", s.probe(1, Any))
	require.Equal(t, "nothing", s.probe(Any, Any))
	require.Equal(t, "b", s.probe(1, 8))
	require.Equal(t, "b", s.probe(Any, 8))
	s.post("r", Any, Any)
	s.expect()
	s.arrive("a", 1, 7, 0, 0)
	s.expect("r<a")
	require.Equal(t, "b", s.probe(Any, Any))
}

func TestHeldMessage(t *testing.T) {
	held := func(t *testing.T) *scene {
		s := newScene(t)
		s.post("any", 1, Any)
		s.post("named", 1, 8)
		s.arrive("b", 1, 8, 1, 0)
		s.expect()
		require.Equal(t, Stats{Held: 1, Unexpected: 1}, s.c.Stats)
		for _, source := range []int32{1, Any} {
			for _, tag := range []int32{8, Any} {
				require.Equal(t, "nothing", s.probe(source, tag), "a probe reports a held message")
			}
		}
		return s
	}
	t.Run("nothing else takes it", func(t *testing.T) {
		s := held(t)
		s.post("late", 1, 8)
		s.post("latest", Any, 8)
		s.expect()
	})
	t.Run("until it is seq-ready, too late for that receive", func(t *testing.T) {
		s := held(t)
		s.arrive("a", 1, 7, 0, 0)
		s.expect("any<a", "named<b")
	})
	t.Run("until it is seq-ready, in time for that receive", func(t *testing.T) {
		s := newScene(t)
		s.post("first", 1, 7)
		s.post("any", 1, Any)
		s.post("named", 1, 8)
		s.arrive("b", 1, 8, 1, 0)
		s.expect()
		s.arrive("a", 1, 7, 0, 0)
		s.expect("first<a", "any<b")
		require.True(t, s.receives["named"].Posted())
		require.Zero(t, s.c.Stats.Released)
	})
	t.Run("until that receive is cancelled", func(t *testing.T) {
		s := held(t)
		require.True(t, s.c.Cancel(s.receives["any"]))
		s.expect("named<b")
		require.Equal(t, uint64(1), s.c.Stats.Released)
		require.False(t, s.c.Cancel(s.receives["any"]))
	})
	t.Run("but still if another receive for any tag was posted before the next", func(t *testing.T) {
		s := newScene(t)
		s.post("any", 1, Any)
		s.post("any2", Any, Any)
		s.post("named", 1, 8)
		s.arrive("b", 1, 8, 1, 0)
		require.True(t, s.c.Cancel(s.receives["any"]))
		s.expect()
		require.True(t, s.c.Cancel(s.receives["any2"]))
		s.expect("named<b")
	})
	t.Run("until that receive gets a message of another sender", func(t *testing.T) {
		s := newScene(t)
		s.post("any", Any, Any)
		s.post("named", 1, 8)
		s.arrive("b", 1, 8, 1, 0)
		s.arrive("x", 2, 9, 0, 0)
		s.expect("any<x", "named<b")
	})
	t.Run("then a probe sees it, and is told so", func(t *testing.T) {
		s := newScene(t)
		s.post("any", Any, Any)
		s.arrive("b", 1, 8, 1, 0)
		version := s.c.Version()
		require.True(t, s.c.Cancel(s.receives["any"]))
		require.Equal(t, "b", s.probe(Any, 8))
		require.NotEqual(t, version, s.c.Version())
	})
	t.Run("by a receive posted after it arrived", func(t *testing.T) {
		s := newScene(t)
		s.arrive("b", 1, 8, 1, 0)
		s.post("any", 1, Any)
		require.Equal(t, "nothing", s.probe(1, 8))
		s.post("named", 1, 8)
		s.expect()
		s.arrive("a", 1, 7, 0, 0)
		s.expect("any<a", "named<b")
	})
	t.Run("while those of others of that tag are not", func(t *testing.T) {
		s := newScene(t)
		s.post("any", 1, Any)
		s.arrive("b", 1, 8, 1, 0)
		s.arrive("x", 2, 8, 1, 0)
		require.Equal(t, "x", s.probe(Any, 8))
		s.post("r", Any, 8)
		s.expect("r<x")
	})
}

func TestRelaxed(t *testing.T) {
	t.Run("any tag takes what arrives", func(t *testing.T) {
		s := newScene(t)
		s.c.Relax()
		s.post("r", 1, Any)
		s.arrive("b", 1, 8, 1, 0)
		s.expect("r<b")
		s.arrive("a", 1, 7, 0, 0)
		require.Equal(t, "a", s.probe(Any, Any))
	})
	t.Run("but of one lane what is next", func(t *testing.T) {
		s := newScene(t)
		s.c.Relax()
		s.post("r", 1, Any)
		s.arrive("b", 1, 7, 1, 1)
		s.expect()
		s.arrive("a", 1, 7, 0, 0)
		s.expect("r<a")
	})
	t.Run("from now on", func(t *testing.T) {
		s := newScene(t)
		s.post("any", 1, Any)
		s.post("named", 1, 9)
		s.arrive("c", 1, 9, 2, 0)
		s.arrive("b", 1, 8, 1, 0)
		s.c.Relax()
		s.expect("any<c")
		require.Equal(t, "b", s.probe(Any, Any))
		s.c.Relax()
		s.expect()
	})
	t.Run("seq-ready counts too where the lane waits for another context", func(t *testing.T) {
		var lane Lane
		s := newScene(t)
		s.c.Relax()
		require.NoError(t, s.c.channel(1).Arrive(&lane, &Message{Tag: 7, Seq: 0, LaneSeq: 1, Owner: "a"}))
		require.Equal(t, "a", s.probe(Any, Any))
		require.Equal(t, "a", s.probe(1, 7))
	})
}

func TestProbeThenReceiveGetsTheSameMessage(t *testing.T) {
	s := newScene(t)
	s.arrive("a", 1, 7, 0, 0)
	s.arrive("x", 2, 7, 0, 0)
	require.Equal(t, "a", s.probe(Any, Any))
	s.arrive("y", 2, 8, 1, 0)
	s.arrive("b", 1, 7, 1, 1)
	s.post("r", s.messages["a"].Source, s.messages["a"].Tag)
	s.expect("r<a")
	require.Equal(t, "x", s.probe(Any, 7))
	s.post("q", Any, 7)
	s.expect("q<x")
}

func TestTake(t *testing.T) {
	s := newScene(t)
	s.arrive("b", 1, 8, 1, 0) // out of order
	s.c.Take(s.c.Probe(1, 8))
	require.Equal(t, "nothing", s.probe(1, 8))
	require.Zero(t, s.c.waiting)
	s.post("r", 1, 8)
	s.post("any", 1, Any)
	s.arrive("a", 1, 7, 0, 0)
	s.expect("any<a")
	s.arrive("c", 1, 8, 2, 1)
	s.expect("r<c")
}

func TestNumbersWrapAround(t *testing.T) {
	s := newScene(t)
	s.c.channel(1).next = 1<<32 - 2
	s.lane(1, 7).next = 1<<32 - 2
	s.post("r1", 1, 7)
	s.post("any", 1, Any)
	s.post("r2", 1, 7)
	s.arrive("b", 1, 7, 1<<32-1, 1<<32-1)
	s.arrive("c", 1, 7, 0, 0)
	s.expect()
	s.arrive("a", 1, 7, 1<<32-2, 1<<32-2)
	s.expect("r1<a", "any<b", "r2<c")
	require.Error(t, s.c.channel(1).Arrive(s.lane(1, 7), &Message{Tag: 7, Seq: 1<<32 - 1, LaneSeq: 1}))
}

func TestMessageThatWaitsWhileHalfTheNumbersPass(t *testing.T) {
	s := newScene(t)
	ch, lane := s.c.channel(1), s.lane(1, 7)
	s.arrive("old", 1, 7, 0, 0)
	// As if more than 2³¹ messages had come and gone since: the next one to come
	// early has the old one's numbers.
	ch.next, lane.next = 1<<31+4, 1<<31+4
	s.arrive("new", 1, 7, 0, 0)
	s.post("r", 1, 7)
	s.expect("r<old")
	require.Zero(t, s.c.Stats.Overtaken)
	ch.next, lane.next = 1<<32-1, 1<<32-1
	s.arrive("missing", 1, 7, 1<<32-1, 1<<32-1)
	s.post("q1", 1, 7)
	s.post("q2", 1, 7)
	s.expect("q1<missing", "q2<new")
}

func TestDuplicateChangesNothing(t *testing.T) {
	for name, numbers := range map[string][2]uint32{
		"both are behind":       {0, 0},
		"seq is behind":         {0, 9},
		"laneSeq is behind":     {9, 0},
		"both are early":        {4, 4},
		"seq is early":          {4, 9},
		"laneSeq is early":      {9, 4},
		"received early":        {6, 9},
		"too far ahead to tell": {1<<31 + 1, 1<<31 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			ch, lane := s.c.channel(1), s.lane(1, 7)
			s.arrive("a", 1, 7, 0, 0)
			s.arrive("c", 1, 7, 4, 4)
			s.post("r", 1, 8)
			s.arrive("v", 1, 8, 6, 0)
			s.expect("r<v")
			before := *ch
			require.Error(t, ch.Arrive(lane, &Message{Tag: 7, Seq: numbers[0], LaneSeq: numbers[1]}))
			require.Equal(t, before.next, ch.next)
			require.Equal(t, uint32(1), lane.next)
			require.Len(t, ch.early, 2)
			require.Len(t, lane.early, 1)
			require.Equal(t, s.messages["c"], ch.early[4])
			require.Equal(t, 1, s.c.waiting)
			// What was not taken leaves its numbers free.
			for n := uint32(1); n < 6; n++ {
				if n != 4 {
					s.arrive(fmt.Sprint(n), 1, 7, n, n)
				}
			}
			require.Equal(t, 6, s.c.waiting)
			require.Empty(t, ch.early)
		})
	}
}

func TestDiscard(t *testing.T) {
	s := newScene(t)
	s.arrive("b", 1, 8, 1, 0) // before its time
	s.arrive("x", 2, 7, 0, 0)
	s.arrive("e", 1, 7, 4, 1) // not even tag-ready
	var unwanted []string
	s.c.Discard(func(m *Message) { unwanted = append(unwanted, m.Owner.(string)) })
	require.Equal(t, []string{"b", "x"}, unwanted)
	require.Zero(t, s.c.waiting)
	s.arrive("a", 1, 7, 0, 0)
	require.Equal(t, []string{"b", "x", "a", "e"}, unwanted)
	s.arrive("c", 1, 8, 2, 1)
	s.arrive("d", 1, 8, 3, 2)
	require.Equal(t, []string{"b", "x", "a", "e", "c", "d"}, unwanted)
	require.Empty(t, s.c.channel(1).early)
	s.expect()
}
