package programs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
)

// script writes down what rank 0 saw of messages from ranks 1 and 2, call by call.
type script struct {
	h *history
}

func newScript(relaxed bool) *script {
	p := &program{ranks: 3, phases: 1, comms: []*group{{members: []int{0, 1, 2}, relaxed: relaxed}}}
	return &script{&history{program: p}}
}

// sent adds a message to rank 0.
func (s *script) sent(from, tag, size int) *message {
	m := &message{id: len(s.h.program.messages), from: from, tag: tag, size: size}
	for _, other := range s.h.program.messages {
		if other.from == from {
			m.index++
		}
	}
	s.h.program.messages = append(s.h.program.messages, m)
	return m
}

func (s *script) post(source, tag int) *reception {
	r := &reception{pattern: pattern{source, tag}, room: 100}
	s.h.add(r)
	s.h.tick()
	return r
}

// got: the receive is seen to be complete.
func (s *script) got(r *reception, m *message) {
	r.source, r.tag, r.size = m.from, m.tag, m.size
	if m.size > 0 && r.room > 0 {
		r.got = m
	}
	s.h.matched(r)
}

func (s *script) cancel(r *reception) {
	r.cancelled = s.h.tick()
	r.gone = s.h.tick()
}

// look is a probe, or a matched probe, that sees the message.
func (s *script) look(w way, source, tag int, m *message) *reception {
	r := &reception{way: w, pattern: pattern{source, tag}, room: 100}
	s.h.add(r)
	s.got(r, m)
	if w == seen {
		r.got = nil
	}
	return r
}

const wild = strand.AnyTag // and any source

func TestOracle(t *testing.T) {
	for name, c := range map[string]struct {
		relaxed bool
		play    func(s *script)
		verdict string // what the error contains; "" for a legal history
	}{
		"in order": {play: func(s *script) {
			a, b := s.sent(1, 7, 10), s.sent(1, 7, 10)
			r, q := s.post(1, 7), s.post(wild, wild)
			s.got(q, b)
			s.got(r, a)
		}},
		"a message is lost": {play: func(s *script) {
			s.sent(1, 7, 10)
		}, verdict: "never received"},
		"a message comes twice": {play: func(s *script) {
			a := s.sent(1, 7, 10)
			s.sent(1, 7, 10)
			s.got(s.post(1, 7), a)
			s.got(s.post(1, 7), a)
		}, verdict: "received twice"},
		"an empty message comes twice": {play: func(s *script) {
			a := s.sent(1, 7, 0)
			s.sent(1, 8, 0)
			s.got(s.post(1, 7), a)
			s.got(s.post(1, 7), a)
		}, verdict: "no such message"},
		"a message goes to a receive for another tag": {play: func(s *script) {
			s.got(s.post(1, 8), s.sent(1, 7, 10))
		}, verdict: "does not fit"},
		"the younger of two messages comes first": {play: func(s *script) {
			a, b := s.sent(1, 7, 10), s.sent(1, 7, 10)
			s.got(s.post(1, 7), b)
			s.got(s.post(1, 7), a)
		}, verdict: "no order of these matches"},
		"a receive for any tag gets the younger of two messages": {play: func(s *script) {
			a, b := s.sent(1, 7, 10), s.sent(1, 8, 10)
			s.got(s.post(1, wild), b)
			s.got(s.post(1, 7), a)
		}, verdict: "no order of these matches"},
		"which relaxed ordering allows": {relaxed: true, play: func(s *script) {
			a, b := s.sent(1, 7, 10), s.sent(1, 8, 10)
			s.got(s.post(1, wild), b)
			s.got(s.post(1, 7), a)
		}},
		"but not of the same tag": {relaxed: true, play: func(s *script) {
			a, b := s.sent(1, 7, 10), s.sent(1, 7, 10)
			s.got(s.post(1, wild), b)
			s.got(s.post(1, 7), a)
		}, verdict: "no order of these matches"},
		"a message overtakes one of another tag": {play: func(s *script) {
			a, b := s.sent(1, 7, 10), s.sent(1, 8, 10)
			s.got(s.post(1, 8), b)
			s.got(s.post(1, wild), a)
		}},
		"a later receive is served before an earlier one": {play: func(s *script) {
			a, b := s.sent(1, 7, 10), s.sent(2, 7, 10)
			r, q := s.post(wild, 7), s.post(1, 7)
			s.got(q, a)
			s.got(r, b)
		}}, // b may have come before a
		"a later receive is served though the earlier one is empty-handed": {play: func(s *script) {
			a := s.sent(1, 7, 10)
			r, q := s.post(wild, 7), s.post(1, 7)
			s.got(q, a)
			s.cancel(r)
		}, verdict: "no order of these matches"},
		"or still posted": {play: func(s *script) {
			a := s.sent(1, 7, 10)
			s.post(wild, 7)
			s.got(s.post(1, 7), a)
		}, verdict: "still pending"},
		"a later receive is served once the earlier one is gone": {play: func(s *script) {
			a := s.sent(1, 7, 10)
			r, q := s.post(wild, 7), s.post(1, 7)
			s.cancel(r)
			s.got(q, a)
		}},
		"two receives cross": {play: func(s *script) {
			// r1 has b, which r2, posted later, could have had only after r1 was
			// gone; r2 has a, which r1 fits too.
			a, b := s.sent(1, 7, 10), s.sent(1, 7, 10)
			r1, r2 := s.post(wild, 7), s.post(1, wild)
			s.got(r1, b)
			s.got(r2, a)
		}, verdict: "no order of these matches"},
		"no single order explains it": {play: func(s *script) {
			// Each pair is legal: different senders, different tags.
			a, b := s.sent(1, 7, 10), s.sent(2, 8, 10)
			r, q := s.post(wild, wild), s.post(wild, wild)
			s.got(q, a)
			s.got(r, b)
		}},
		"a probe lies": {play: func(s *script) {
			a, b := s.sent(1, 7, 10), s.sent(1, 7, 20)
			s.look(seen, 1, 7, b)
			s.got(s.post(1, 7), a)
			s.got(s.post(1, 7), b)
		}, verdict: "the next message is another"},
		"a probe sees a message that is gone": {play: func(s *script) {
			a := s.sent(1, 7, 10)
			s.got(s.post(1, 7), a)
			s.look(seen, 1, 7, a)
		}, verdict: "nobody received afterwards"},
		"a probe sees a message that a posted receive fits": {play: func(s *script) {
			a := s.sent(1, 7, 10)
			r := s.post(1, wild)
			s.look(seen, 1, 7, a)
			s.cancel(r)
			s.got(s.post(1, 7), a)
		}, verdict: "no order of these matches"},
		"a probe for any tag sees a message before an older one": {play: func(s *script) {
			a, b := s.sent(1, 7, 10), s.sent(1, 8, 10)
			s.look(seen, 1, wild, b)
			s.got(s.post(1, 7), a)
			s.got(s.post(1, 8), b)
		}, verdict: "no order of these matches"},
		"the receive after a probe gets another": {play: func(s *script) {
			a, b := s.sent(1, 7, 10), s.sent(2, 7, 10)
			p := s.look(seen, wild, 7, a)
			r := s.post(1, 7)
			r.follows = p
			s.got(r, a)
			q := s.post(2, 7)
			q.follows = p
			s.got(q, b)
		}, verdict: "did not get what the probe before it saw"},
		"a matched probe takes a message from a posted receive": {play: func(s *script) {
			a := s.sent(1, 7, 10)
			r := s.post(1, 7)
			s.look(taken, wild, wild, a)
			s.cancel(r)
		}, verdict: "no order of these matches"},
		"one rank alone sends": {play: func(s *script) {
			a, b := s.sent(1, 7, 0), s.sent(1, 8, 0)
			r, q := s.post(wild, wild), s.post(1, wild)
			s.got(r, a)
			s.got(q, b)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(c.relaxed)
			c.play(s)
			err := s.h.judge()
			if c.verdict == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			require.Truef(t, strings.Contains(err.Error(), c.verdict), "%v", err)
		})
	}
}

func TestSequentialModel(t *testing.T) {
	s := newScript(false)
	a, b := s.sent(1, 7, 10), s.sent(1, 8, 10)
	r, q := s.post(wild, wild), s.post(wild, wild)
	s.got(r, b)
	s.got(q, a)
	v := verdict{history: s.h, messages: s.h.messages(0), receptions: s.h.on(0)}
	require.NoError(t, v.identify())
	require.ErrorContains(t, v.sequential(), "one rank alone sends")
}

func TestMessageKnowsItself(t *testing.T) {
	m := &message{id: 3, comm: 1, from: 2, to: 4, index: 9, size: 1000}
	b := make([]byte, m.size)
	m.fill(b, 42)
	for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 999, 1000} {
		require.Equal(t, -1, m.differs(b[:n], 42))
		if n > 0 {
			b[n-1]++
			require.Equal(t, n-1, m.differs(b[:n], 42))
			b[n-1]--
		}
	}
	require.NotEqual(t, -1, m.differs(b, 43))
}

func TestBufferTellsWhereItWasTouched(t *testing.T) {
	for _, n := range []int{1, 2, 511, 512, 513, 2000} {
		b := newBuffer(n, whole, nil)
		require.Equal(t, -1, b.untouched(0))
		b.memory[n-1] = 0
		require.Equal(t, n-1, b.untouched(0))
		require.Equal(t, n-1, b.untouched(n-1))
		b.spoil()
		require.Equal(t, -1, b.untouched(0))
	}
}
