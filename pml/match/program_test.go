package match

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/strandmp/strand/internal/test/need"
)

// shape says what the programs that a property generates may contain.
type shape struct {
	senders, contexts int // at most
	cancel, take      bool
	relax             bool // from the start, or at some point
}

// upTo draws an int from 0 to most, each as likely. Rapid's own generators prefer small ints,
// of which a program soon has enough.
func upTo(most int) *rapid.Generator[int] {
	const bits = 8
	return rapid.Custom(func(t *rapid.T) int {
		u := 0
		for i := range bits {
			if rapid.Bool().Draw(t, "bit") {
				u |= 1 << i
			}
		}
		return u * (most + 1) >> bits
	})
}

// program runs one generated program: senders number messages, which arrive in
// any order, while receives are posted, cancelled and probed for. Each step is
// made in the package and in the model, which must agree after it.
type program struct {
	t       *rapid.T
	shape   shape
	senders int
	lanes   int
	tags    int
	window  int // how far messages may overtake each other on the way
	base    uint32

	model    *model
	contexts []*Context
	lane     map[int]*Lane
	log      *history

	messages []*modelMessage
	real     []*Message
	inFlight []*modelMessage
	arrived  []*modelMessage
	receives []*modelRecv
	posted   []*Recv
	nextSeq  map[[2]int]int // by context and sender
	nextLane map[int]int
	matches  []pair
}

func newProgram(t *rapid.T, s shape) *program {
	p := &program{
		t: t, shape: s, lane: make(map[int]*Lane), nextSeq: make(map[[2]int]int), nextLane: make(map[int]int),
		senders: 1 + upTo(s.senders-1).Draw(t, "senders"),
		lanes:   1 + upTo(3).Draw(t, "lanes"),
		tags:    1 + upTo(3).Draw(t, "tags"),
		window:  []int{1, 3, 1 << 30}[upTo(2).Draw(t, "window")],
		base:    rapid.SampledFrom([]uint32{0, 1<<31 - 3, 1<<32 - 3}).Draw(t, "base"),
		log:     &history{relaxedAt: make(map[int]int)},
	}
	contexts := 1 + upTo(s.contexts-1).Draw(t, "contexts")
	p.model = newModel(contexts)
	for i := range contexts {
		c := NewContext(p.matched)
		for sender := range p.senders {
			c.channel(p.source(i, sender)).next = p.base
		}
		p.contexts = append(p.contexts, c)
	}
	for i := range p.senders * p.lanes {
		p.lane[i] = &Lane{order{next: p.base}}
	}
	return p
}

// source is a sender's rank in a context: not the same one in each.
func (p *program) source(context, sender int) int32 { return int32((sender + context) % p.senders) }

func (p *program) matched(r *Recv, m *Message) {
	p.note(r.Owner.(*modelRecv), m.Owner.(*modelMessage))
}

func (p *program) note(r *modelRecv, m *modelMessage) {
	p.matches = append(p.matches, pair{r.id, m.id})
	p.log.match(r, m)
}

func (p *program) context() int { return upTo(len(p.contexts)-1).Draw(p.t, "context") }

func (p *program) pattern(context int) *modelRecv {
	r := &modelRecv{context: context}
	r.source = int32(upTo(p.senders).Draw(p.t, "source")) - 1
	r.tag = int32(upTo(p.tags).Draw(p.t, "tag")) - 1
	return p.receive(r)
}

// receive makes a receive known.
func (p *program) receive(r *modelRecv) *modelRecv {
	r.id = len(p.receives)
	p.receives = append(p.receives, r)
	p.posted = append(p.posted, &Recv{Source: r.source, Tag: r.tag, Owner: r})
	p.log.post(r)
	return r
}

func (p *program) send() {
	sender := upTo(p.senders-1).Draw(p.t, "sender")
	m := &modelMessage{id: len(p.messages), context: p.context(), sender: sender}
	m.source = p.source(m.context, sender)
	m.tag = int32(upTo(p.tags-1).Draw(p.t, "tag"))
	m.lane = sender*p.lanes + (int(m.tag)+m.context)%p.lanes
	m.seq, m.laneSeq = p.nextSeq[[2]int{m.context, sender}], p.nextLane[m.lane]
	p.nextSeq[[2]int{m.context, sender}]++
	p.nextLane[m.lane]++
	p.messages = append(p.messages, m)
	p.real = append(p.real, &Message{Tag: m.tag, Seq: p.base + uint32(m.seq), LaneSeq: p.base + uint32(m.laneSeq), Owner: m})
	p.inFlight = append(p.inFlight, m)
	p.log.send(m)
}

func (p *program) arrive() {
	if len(p.inFlight) == 0 {
		return
	}
	i := upTo(min(len(p.inFlight), p.window)-1).Draw(p.t, "arrives")
	m := p.inFlight[i]
	p.inFlight = append(p.inFlight[:i], p.inFlight[i+1:]...)
	p.arrived = append(p.arrived, m)
	if !p.short(m, p.real[m.id]) {
		if err := p.enter(m, p.real[m.id]); err != nil {
			p.t.Fatalf("message %d: %v", m.id, err)
		}
	}
	p.model.arrive(m)
}

// short is what the message layer tries first: to give the message to a caller that looks for it by itself, as if that
// had posted a receive a moment before, or to a receive that is posted.
func (p *program) short(m *modelMessage, real *Message) bool {
	ch, lane := p.contexts[m.context].channel(m.source), p.lane[m.lane]
	switch upTo(2).Draw(p.t, "way") {
	case 0:
		if !ch.Pass(lane, real.Seq, real.LaneSeq, m.tag) {
			return false
		}
		source := rapid.SampledFrom([]int32{m.source, Any}).Draw(p.t, "from")
		tag := rapid.SampledFrom([]int32{m.tag, Any}).Draw(p.t, "with")
		r := p.receive(&modelRecv{context: m.context, source: source, tag: tag})
		if before := p.model.post(r); before != nil {
			p.t.Fatalf("message %d was passed on before %d", m.id, before.id)
		}
		p.note(r, m)
	case 1:
		r := ch.Expect(lane, real.Seq, real.LaneSeq, m.tag)
		if r == nil {
			return false
		}
		p.note(r.Owner.(*modelRecv), m)
	default:
		return false
	}
	return true
}

func (p *program) enter(m *modelMessage, real *Message) error {
	return p.contexts[m.context].channel(m.source).Arrive(p.lane[m.lane], real)
}

// repeat has a pair of numbers arrive again. The checks after the step see that
// nothing has changed.
func (p *program) repeat() {
	if len(p.arrived) == 0 {
		return
	}
	m := p.arrived[upTo(len(p.arrived)-1).Draw(p.t, "again")]
	again := *p.real[m.id]
	if err := p.enter(m, &again); err == nil {
		p.t.Fatalf("message %d was taken twice", m.id)
	}
}

func (p *program) post() {
	r := p.pattern(p.context())
	got, want := p.contexts[r.context].Post(p.posted[r.id]), p.model.post(r)
	if owner(got) != want {
		p.t.Fatalf("receive %+v got %+v, want %+v", r, owner(got), want)
	}
	if want != nil {
		p.note(r, want)
	}
}

func (p *program) cancel() {
	if !p.shape.cancel || len(p.receives) == 0 {
		return
	}
	r := p.receives[upTo(len(p.receives)-1).Draw(p.t, "cancelled")]
	was := p.posted[r.id].Posted()
	p.log.cancel(r, was)
	if got := p.contexts[r.context].Cancel(p.posted[r.id]); got != was {
		p.t.Fatalf("Cancel is %v of a receive whose Posted is %v", got, was)
	}
	if was {
		p.model.cancel(r)
	}
}

// take is a matched probe: a receive that is gone as soon as it is there.
func (p *program) take() {
	if !p.shape.take {
		return
	}
	context := p.context()
	r := p.pattern(context)
	c := p.contexts[context]
	m := c.Probe(r.source, r.tag)
	if want := p.model.probe(r); owner(m) != want {
		p.t.Fatalf("probe for %+v saw %+v, want %+v", r, owner(m), want)
	}
	if m == nil {
		p.log.cancel(r, true)
		return
	}
	c.Take(m)
	owner(m).done = true
	p.model.matches = append(p.model.matches, pair{r.id, owner(m).id})
	p.note(r, owner(m))
}

func (p *program) relax() {
	if !p.shape.relax || upTo(49).Draw(p.t, "relax") != 0 {
		return
	}
	context := p.context()
	p.log.relax(context)
	p.contexts[context].Relax()
	p.model.relax(context)
}

func owner(m *Message) *modelMessage {
	if m == nil {
		return nil
	}
	return m.Owner.(*modelMessage)
}

// maxSteps bounds the length of a program.
const maxSteps = 250

// run makes the steps, then lets everything arrive.
func (p *program) run() {
	steps := []func(){p.send, p.send, p.send, p.arrive, p.arrive, p.post, p.post, p.repeat, p.cancel, p.take, p.relax}
	var probes probeWatch
	for range 1 + upTo(maxSteps).Draw(p.t, "steps") {
		steps[upTo(len(steps)-1).Draw(p.t, "step")]()
		p.agree()
		probes.check(p)
	}
	for len(p.inFlight) > 0 {
		p.arrive()
		p.agree()
		probes.check(p)
	}
	p.quiescent()
}

// agree compares the package with the model.
func (p *program) agree() {
	if len(p.matches) != len(p.model.matches) {
		p.t.Fatalf("matches %v, want %v", p.matches, p.model.matches)
	}
	for i, want := range p.model.matches {
		if p.matches[i] != want {
			p.t.Fatalf("matches %v, want %v", p.matches, p.model.matches)
		}
	}
	for i, c := range p.contexts {
		if got, want := c.waiting, p.model.waiting(i); got != want {
			p.t.Fatalf("context %d: %d messages wait, want %d", i, got, want)
		}
		posted := make(map[int]bool)
		for _, slot := range c.receives.slots {
			for r := slot.head; r != nil; r = r.next {
				posted[r.Owner.(*modelRecv).id] = true
			}
		}
		if len(posted) != len(p.model.contexts[i].posted) {
			p.t.Fatalf("context %d: %d receives are posted, want %d", i, len(posted), len(p.model.contexts[i].posted))
		}
		for _, r := range p.model.contexts[i].posted {
			if !posted[r.id] || !p.posted[r.id].Posted() {
				p.t.Fatalf("context %d: receive %d is not posted", i, r.id)
			}
		}
	}
}

// quiescent holds when everything has arrived: no message waits while a posted
// receive fits it, nothing is kept for numbers that are missing.
func (p *program) quiescent() {
	for _, m := range p.messages {
		if p.log.received(m) {
			continue
		}
		if r := p.model.firstFit(m); r != nil {
			p.t.Fatalf("message %d waits although receive %d fits it", m.id, r.id)
		}
	}
	for i, c := range p.contexts {
		if c.tagOnly != nil {
			p.t.Fatalf("context %d: a message is not seq-ready", i)
		}
		for source, ch := range c.channels {
			if len(ch.early) > 0 {
				p.t.Fatalf("context %d: numbers from %d are kept: %v", i, source, ch.early)
			}
		}
	}
	for i, lane := range p.lane {
		if len(lane.early) > 0 {
			p.t.Fatalf("lane %d: numbers are kept: %v", i, lane.early)
		}
	}
	p.log.check(p.t)
}

// probeWatch compares probes of every pattern with the model's, and sees to it
// that the version changes when one finds something that none could before.
type probeWatch struct {
	seen    map[modelRecv]*modelMessage
	version []uint64
}

func (w *probeWatch) check(p *program) {
	seen := make(map[modelRecv]*modelMessage)
	var versions []uint64
	for i, c := range p.contexts {
		versions = append(versions, c.Version())
		for source := Any; source < int32(p.senders); source++ {
			for tag := Any; tag < int32(p.tags); tag++ {
				r := modelRecv{context: i, source: source, tag: tag}
				got, want := owner(c.Probe(source, tag)), p.model.probe(&r)
				if got != want {
					p.t.Fatalf("probe for %+v saw %+v, want %+v", r, got, want)
				}
				seen[r] = got
				if w.seen != nil && got != nil && w.seen[r] == nil && versions[i] == w.version[i] {
					p.t.Fatalf("probe for %+v would see %+v now, but the version is still %d", r, got, versions[i])
				}
			}
		}
	}
	w.seen, w.version = seen, versions
}

// programs is how many a check runs, a hundred times.
var programs = need.Daily(1, 4)

func TestPrograms(t *testing.T) {
	for name, s := range map[string]shape{
		"one sender":       {senders: 1, contexts: 1, cancel: true, take: true},
		"lanes in common":  {senders: 1, contexts: 3, cancel: true, take: true},
		"many senders":     {senders: 3, contexts: 2, cancel: true, take: true},
		"relaxed ordering": {senders: 3, contexts: 2, cancel: true, take: true, relax: true},
	} {
		t.Run(name, func(t *testing.T) {
			var total Stats
			for round := 0; round < 20 && !total.complete(); round++ { // a hundred programs may leave something out by chance
				rapid.Check(t, func(t *rapid.T) {
					for range programs {
						p := newProgram(t, s)
						p.run()
						for _, c := range p.contexts {
							total.add(c.Stats)
						}
					}
				})
			}
			t.Logf("%+v", total)
			if !total.complete() {
				t.Errorf("the programs left something out: %+v", total)
			}
		})
	}
}

// complete reports whether all that is counted has happened.
func (s *Stats) complete() bool {
	return s.Held > 0 && s.Released > 0 && s.Overtaken > 0 && s.Unexpected > 0
}

func (s *Stats) add(o Stats) {
	s.Held += o.Held
	s.Released += o.Released
	s.Overtaken += o.Overtaken
	s.Unexpected += o.Unexpected
}

// With one sender, and neither cancel nor matched probe, MPI's two rules leave
// one outcome, whenever what arrives: each message, in the order of sending,
// goes to the first receive, in the order of posting, that fits it and is free.
func TestOneSenderIsSequential(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newProgram(t, shape{senders: 1, contexts: 2})
		p.run()
		receivedBy := make(map[int]int)
		for _, match := range p.matches {
			receivedBy[match.message] = match.recv
		}
		taken := make(map[int]bool)
		for _, m := range p.messages {
			want, found := 0, false
			for _, r := range p.receives {
				if r.fits(m) && !taken[r.id] {
					want, found = r.id, true
					taken[want] = true
					break
				}
			}
			if got, ok := receivedBy[m.id]; ok != found || got != want {
				t.Fatalf("message %d was received by %d (%v), want %d (%v)", m.id, got, ok, want, found)
			}
		}
	})
}
