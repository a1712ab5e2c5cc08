package match

import "slices"

// model is the documented rule done by brute force: plain slices, everything
// worked out anew at every step. It is what the package is compared with.
type model struct {
	contexts []*modelContext
	lanes    map[int][]*modelMessage // what has arrived, by sender and lane
	matches  []pair
	stamp    int
}

type modelContext struct {
	relaxed bool
	posted  []*modelRecv
	arrived []*modelMessage // everything, matched too
}

// modelMessage is a message at its sender.
type modelMessage struct {
	id, context, sender, lane int
	source, tag               int32
	seq, laneSeq              int // without wrap-around

	tagReady, seqReady bool
	tagStamp, seqStamp int // when it became so
	done               bool
}

type modelRecv struct {
	id, context int
	source, tag int32
}

// pair is a match: a receive and a message by their identities.
type pair struct{ recv, message int }

func (r *modelRecv) fits(m *modelMessage) bool {
	return r.context == m.context && (r.source == Any || r.source == m.source) && (r.tag == Any || r.tag == m.tag)
}

func newModel(contexts int) *model {
	o := &model{lanes: make(map[int][]*modelMessage)}
	for range contexts {
		o.contexts = append(o.contexts, &modelContext{})
	}
	return o
}

// complete reports whether every number below n is among numbers.
func complete(numbers []int, n int) bool {
	for i := range n {
		if !slices.Contains(numbers, i) {
			return false
		}
	}
	return true
}

func (o *model) nextInSeq(m *modelMessage) bool {
	var numbers []int
	for _, a := range o.contexts[m.context].arrived {
		if a.sender == m.sender {
			numbers = append(numbers, a.seq)
		}
	}
	return complete(numbers, m.seq)
}

func (o *model) nextInLane(m *modelMessage) bool {
	var numbers []int
	for _, a := range o.lanes[m.lane] {
		numbers = append(numbers, a.laneSeq)
	}
	return complete(numbers, m.laneSeq)
}

func (o *model) firstFit(m *modelMessage) *modelRecv {
	for _, r := range o.contexts[m.context].posted {
		if r.fits(m) {
			return r
		}
	}
	return nil
}

func (o *model) unpost(r *modelRecv) {
	c := o.contexts[r.context]
	c.posted = slices.DeleteFunc(c.posted, func(p *modelRecv) bool { return p == r })
}

// consider applies the rule to one message.
func (o *model) consider(m *modelMessage) {
	if m.done || !m.tagReady {
		return
	}
	r := o.firstFit(m)
	if r == nil || r.tag == Any && !m.seqReady {
		return
	}
	o.unpost(r)
	m.done = true
	o.matches = append(o.matches, pair{r.id, m.id})
}

func (o *model) becomeTagReady(m *modelMessage) {
	if !m.tagReady {
		o.stamp++
		m.tagReady, m.tagStamp = true, o.stamp
	}
}

func (o *model) becomeSeqReady(m *modelMessage) {
	if !m.seqReady {
		o.stamp++
		m.seqReady, m.seqStamp = true, o.stamp
	}
}

// reexamine considers all messages of a context in the order of becoming
// tag-ready.
func (o *model) reexamine(c *modelContext) {
	ready := slices.DeleteFunc(slices.Clone(c.arrived), func(m *modelMessage) bool { return !m.tagReady })
	slices.SortFunc(ready, func(a, b *modelMessage) int { return a.tagStamp - b.tagStamp })
	for _, m := range ready {
		o.consider(m)
	}
}

func (o *model) arrive(m *modelMessage) {
	c := o.contexts[m.context]
	c.arrived = append(c.arrived, m)
	o.lanes[m.lane] = append(o.lanes[m.lane], m)

	bySeq := slices.Clone(c.arrived)
	slices.SortFunc(bySeq, func(a, b *modelMessage) int { return a.seq - b.seq })
	for _, a := range bySeq {
		if a.sender == m.sender && o.nextInSeq(a) {
			fresh := !a.seqReady
			o.becomeTagReady(a)
			o.becomeSeqReady(a)
			if fresh {
				o.consider(a)
			}
		}
	}
	o.reexamine(c)

	byLane := slices.Clone(o.lanes[m.lane])
	slices.SortFunc(byLane, func(a, b *modelMessage) int { return a.laneSeq - b.laneSeq })
	for _, a := range byLane {
		if o.nextInLane(a) && !a.tagReady {
			o.becomeTagReady(a)
			if o.contexts[a.context].relaxed {
				o.becomeSeqReady(a)
			}
			o.consider(a)
		}
	}
}

// probe returns the first message, in the order of becoming ready, that a new
// receive may have.
func (o *model) probe(r *modelRecv) *modelMessage {
	var first *modelMessage
	firstStamp := 0
	for _, m := range o.contexts[r.context].arrived {
		stamp, ready := m.tagStamp, m.tagReady
		if r.tag == Any {
			stamp, ready = m.seqStamp, m.seqReady
		}
		if m.done || !ready || !r.fits(m) || o.firstFit(m) != nil {
			continue
		}
		if first == nil || stamp < firstStamp {
			first, firstStamp = m, stamp
		}
	}
	return first
}

func (o *model) post(r *modelRecv) *modelMessage {
	if m := o.probe(r); m != nil {
		m.done = true
		o.matches = append(o.matches, pair{r.id, m.id})
		return m
	}
	c := o.contexts[r.context]
	c.posted = append(c.posted, r)
	return nil
}

func (o *model) cancel(r *modelRecv) {
	o.unpost(r)
	o.reexamine(o.contexts[r.context])
}

func (o *model) relax(context int) {
	c := o.contexts[context]
	c.relaxed = true
	ready := slices.DeleteFunc(slices.Clone(c.arrived), func(m *modelMessage) bool { return !m.tagReady })
	slices.SortFunc(ready, func(a, b *modelMessage) int { return a.tagStamp - b.tagStamp })
	for _, m := range ready {
		o.becomeSeqReady(m)
		o.consider(m)
	}
}

// waiting counts the messages that are tag-ready and not received.
func (o *model) waiting(context int) int {
	n := 0
	for _, m := range o.contexts[context].arrived {
		if m.tagReady && !m.done {
			n++
		}
	}
	return n
}

// channel returns the channel from a sender, which it makes at first use.
func (c *Context) channel(source int32) *Channel {
	if ch := c.Channel(source); ch != nil {
		return ch
	}
	return c.Open(source, nil)
}
