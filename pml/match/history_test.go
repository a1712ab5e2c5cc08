package match

import "pgregory.net/rapid"

// history is what happened, as MPI's two rules see it (MPI 4.1, section 3.5). It
// knows nothing of numbers, lanes or arrival.
type history struct {
	clock     int
	sends     []*modelMessage // each sender's in the order of sending
	receives  []*modelRecv    // in the order of posting
	matches   []pastMatch
	gone      map[*modelRecv]int    // when it was matched or cancelled
	at        map[*modelMessage]int // when it was matched
	relaxedAt map[int]int
}

type pastMatch struct {
	when int
	r    *modelRecv
	m    *modelMessage
}

func (h *history) tick() int {
	if h.gone == nil {
		h.gone, h.at = make(map[*modelRecv]int), make(map[*modelMessage]int)
	}
	h.clock++
	return h.clock
}

func (h *history) send(m *modelMessage) { h.sends = append(h.sends, m) }
func (h *history) post(r *modelRecv)    { h.receives = append(h.receives, r) }

func (h *history) cancel(r *modelRecv, was bool) {
	if was {
		h.gone[r] = h.tick()
	}
}

func (h *history) relax(context int) {
	if _, ok := h.relaxedAt[context]; !ok {
		h.relaxedAt[context] = h.tick()
	}
}

func (h *history) match(r *modelRecv, m *modelMessage) {
	when := h.tick()
	h.matches = append(h.matches, pastMatch{when, r, m})
	h.gone[r], h.at[m] = when, when
}

func (h *history) received(m *modelMessage) bool { return h.at[m] > 0 }

// check holds the history against the rules:
//
//   - A receive that got a message found no older one of the same sender that
//     fits it pending: each had been received. With relaxed ordering that is
//     promised of messages of one lane.
//   - A message that went to a receive found no earlier one that fits it
//     pending: each had been matched or cancelled.
func (h *history) check(t *rapid.T) {
	for _, match := range h.matches {
		relaxedAt, ok := h.relaxedAt[match.r.context]
		relaxed := ok && relaxedAt < match.when
		if !match.r.fits(match.m) {
			t.Fatalf("receive %+v got %+v, which it does not fit", match.r, match.m)
		}
		for _, older := range h.sends {
			if older == match.m {
				break
			}
			if older.sender != match.m.sender || !match.r.fits(older) || relaxed && older.lane != match.m.lane {
				continue
			}
			if at := h.at[older]; at == 0 || at > match.when {
				t.Fatalf("receive %+v got %+v while %+v, sent before it, was pending", match.r, match.m, older)
			}
		}
		for _, earlier := range h.receives {
			if earlier == match.r {
				break
			}
			if !earlier.fits(match.m) {
				continue
			}
			if gone := h.gone[earlier]; gone == 0 || gone > match.when {
				t.Fatalf("%+v went to receive %+v while %+v, posted before it, was pending", match.m, match.r, earlier)
			}
		}
	}
}
