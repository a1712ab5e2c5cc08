package programs

import (
	"math/rand/v2"
	"slices"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/calls"
)

// A shape bounds what is generated.
type shape struct {
	ranks    int
	relaxed  bool
	sizes    []int // lengths around which something changes
	steps    int   // of one phase, at most
	phases   int   // at most
	bytes    int   // of all messages of a program, about
	memory   memory
	farewell int  // length of a message that is under way when worlds close, at most
	long     bool // many messages of several frames
}

// generator builds a program.
type generator struct {
	*rand.Rand
	shape   shape
	program *program
	tags    []int
	ring    *group   // a communicator for exchanges alone: no other receive gets their messages
	series  int      // how many there are
	live    []*group // communicators in use
	phase   int
	bytes   int
	named   float64 // how often a receive names its tag, and its source
	roomy   float64 // how often it has room enough
}

// generate makes the program of a seed.
func generate(seed uint64, s shape) *program {
	g := &generator{
		Rand: rand.New(rand.NewPCG(seed, 0x9406)), shape: s, bytes: s.bytes,
		program: &program{seed: seed, ranks: s.ranks},
	}
	everybody := make([]int, s.ranks)
	for i := range everybody {
		everybody[i] = i
	}
	g.join(everybody, s.relaxed)
	g.tags = []int{0, 1, 2, 7, strand.MaxTag, 1000, 12345}[:1+g.IntN(7)]
	g.named = []float64{0.1, 0.5, 0.9}[g.IntN(3)]
	g.roomy = []float64{0.5, 0.9, 1}[g.IntN(3)]
	g.program.phases = 1 + g.IntN(s.phases)
	steps := s.steps >> g.IntN(4) // most faults need few of them
	if g.IntN(3) == 0 {
		g.program.polling = g.IntN(1 << s.ranks)
	}
	floods := g.IntN(12) == 0
	if g.IntN(2) == 0 {
		g.makeRing()
	}
	for g.phase = range g.program.phases {
		if floods {
			g.flood()
		}
		for range 1 + g.IntN(steps) {
			g.step()
		}
		g.add(&step{kind: stepDrain})
		g.free()
	}
	g.trim()
	return g.program
}

// trim leaves no receive more room than one byte above what can come.
func (g *generator) trim() {
	longest := make(map[[2]int]int)
	for _, m := range g.program.messages {
		key := [2]int{m.comm, m.to}
		longest[key] = max(longest[key], m.size)
	}
	for _, s := range g.program.steps {
		to := s.rank
		if s.kind == stepTransfer {
			to = s.message.to
		}
		s.room = min(s.room, longest[[2]int{s.comm, to}]+1)
	}
}

// join makes a communicator.
func (g *generator) join(members []int, relaxed bool) int {
	c := &group{id: len(g.program.comms), members: members, relaxed: relaxed, sends: make(map[[2]int]int), tagged: make(map[[3]int]int)}
	g.program.comms = append(g.program.comms, c)
	g.live = append(g.live, c)
	return c.id
}

func (g *generator) add(s *step) {
	s.bits = g.Uint64()
	g.program.steps = append(g.program.steps, s)
}

// maxComms bounds the communicators of a program.
const maxComms = 12

// step adds one step, or several that belong together.
func (g *generator) step() {
	switch n := g.IntN(102); {
	case n < 26:
		g.send()
	case n < 52:
		g.receive()
	case n < 54:
		g.contest()
	case n < 57:
		g.burst()
	case n < 63:
		g.look(stepProbe)
	case n < 68:
		g.look(stepTake)
	case n < 70:
		g.add(&step{kind: stepFinish, rank: g.someone()})
	case n < 77:
		g.add(&step{kind: stepCancel, rank: g.someone()})
	case n < 83:
		g.add(&step{kind: stepTest, rank: g.someone()})
	case n < 86:
		g.add(&step{kind: stepYield, rank: g.someone()})
	case n < 87:
		g.rest()
	case n < 90:
		g.look(stepBrief)
	case n < 94:
		g.transfer()
	case n < 95:
		g.exchanges()
	case n < 96:
		g.persistent()
	case n < 97:
		g.together()
	case n < 100:
		g.collect(g.comm())
	default:
		g.reshape()
	}
}

func (g *generator) someone() int { return g.IntN(g.shape.ranks) }
func (g *generator) comm() *group { return g.live[g.IntN(len(g.live))] }
func (g *generator) tag() int     { return g.tags[g.IntN(len(g.tags))] }

// size draws the length of a message.
func (g *generator) size() int {
	n := 0
	switch g.IntN(4) {
	case 0:
		n = g.IntN(100)
	case 1:
		n = g.IntN(2)
	case 2:
		if g.shape.long {
			n = g.IntN(2 * slices.Max(g.shape.sizes))
			break
		}
		fallthrough
	default:
		n = max(0, g.shape.sizes[g.IntN(len(g.shape.sizes))]+g.IntN(3)-1)
	}
	if n > g.bytes {
		return g.IntN(10)
	}
	g.bytes -= n
	return n
}

// letter makes a message of one member of a communicator to another, or to
// itself; nil if there are enough of them.
func (g *generator) letter(c *group, from, to int) *message {
	if c.sends[[2]int{from, to}] >= maxIndex {
		return nil
	}
	return g.letterOf(c, from, to, g.size())
}

func (g *generator) letterOf(c *group, from, to, size int) *message {
	return g.tagged(c, from, to, size, g.tag())
}

func (g *generator) tagged(c *group, from, to, size, tag int) *message {
	pair := [2]int{from, to}
	if c.sends[pair] >= maxIndex {
		return nil
	}
	m := &message{id: len(g.program.messages), comm: c.id, from: from, to: to, index: c.sends[pair], tag: tag, size: size, phase: g.phase}
	c.sends[pair]++
	c.tagged[[3]int{from, to, m.tag}]++
	m.ordinal = c.tagged[[3]int{from, to, m.tag}]
	g.program.messages = append(g.program.messages, m)
	return m
}

// form draws how the memory of a message lies.
func (g *generator) form() form { return pick(g.Rand, whole, whole, whole, vector, scattered) }

func (g *generator) member(c *group) int { return c.members[g.IntN(len(c.members))] }

func (g *generator) send() {
	c := g.comm()
	from, to := g.member(c), g.member(c)
	g.post(c, from, to, mode(g.IntN(3)))
}

func (g *generator) post(c *group, from, to int, how mode) {
	if m := g.letter(c, from, to); m != nil {
		g.add(&step{kind: stepSend, rank: from, comm: c.id, message: m, mode: how, form: g.form()})
	}
}

// burst is one rank flooding another, which takes more than its credit.
func (g *generator) burst() {
	c := g.comm()
	from, to := g.member(c), g.member(c)
	for range 2 + g.IntN(30) {
		how := modeStandard
		if g.IntN(8) == 0 {
			how = modeSynchronous
		}
		g.post(c, from, to, how)
	}
}

// rest is some time with nothing to do, for one rank or for all, perhaps with a burst
// behind it.
func (g *generator) rest() {
	if g.IntN(4) > 0 {
		g.add(&step{kind: stepPause, rank: g.someone()})
	} else {
		for rank := range g.shape.ranks {
			g.add(&step{kind: stepPause, rank: rank})
		}
	}
	if g.IntN(3) == 0 {
		g.burst()
	}
}

// contest has receives for any tag, posted first and taken back later, stand
// before receives that name one.
func (g *generator) contest() {
	c := g.comm()
	from, to := g.member(c), g.member(c)
	source := from
	if g.IntN(3) == 0 {
		source = strand.AnySource
	}
	for i := range 2 + g.IntN(8) {
		p := pattern{source, g.tag()}
		if i == 0 || g.IntN(10) == 0 {
			p.tag = strand.AnyTag
		}
		g.add(&step{kind: stepRecv, rank: to, comm: c.id, pattern: p, room: g.room()})
	}
	for range 2 + g.IntN(8) {
		g.post(c, from, to, modeStandard)
		if g.IntN(3) == 0 {
			g.look(stepProbe)
		}
	}
	if g.IntN(3) > 0 { // by when some have come, and some not
		g.add(&step{kind: stepBarrier, comm: c.id})
	}
	for range 1 + g.IntN(6) {
		g.add(&step{kind: stepCancel, rank: to})
		g.add(&step{kind: stepTest, rank: to})
	}
}

// want draws what a receive names.
func (g *generator) want(c *group) pattern {
	p := anything
	if g.Float64() < g.named {
		p.source = g.member(c)
	}
	if g.Float64() < g.named {
		p.tag = g.tag()
	}
	return p
}

// room draws how much a receive has room for.
func (g *generator) room() int {
	largest := 0
	for _, n := range g.shape.sizes {
		largest = max(largest, n+1)
	}
	if g.Float64() < g.roomy {
		return max(largest, 100)
	}
	return g.IntN(largest + 1)
}

func (g *generator) receive() {
	c := g.comm()
	g.add(&step{kind: stepRecv, rank: g.member(c), comm: c.id, pattern: g.want(c), room: g.room(), form: g.form()})
}

func (g *generator) look(k kind) {
	c := g.comm()
	g.add(&step{kind: k, rank: g.member(c), comm: c.id, pattern: g.want(c), room: g.room(), form: g.form()})
}

// transfer is a send that blocks.
func (g *generator) transfer() {
	c := g.comm()
	from, to := g.member(c), g.member(c)
	if from == to {
		return // it would wait for itself
	}
	m := g.letter(c, from, to)
	if m == nil {
		return
	}
	p := pattern{from, m.tag}
	if g.IntN(3) == 0 {
		p.tag = strand.AnyTag
	}
	if g.IntN(3) == 0 {
		p.source = strand.AnySource
	}
	g.add(&step{kind: stepTransfer, rank: from, comm: c.id, message: m, mode: mode(g.IntN(4)), form: g.form(), pattern: p, room: g.room()})
}

// together is a barrier, or calls that end when a member leaves the others in them.
func (g *generator) together() {
	c := g.comm()
	s := &step{kind: stepBarrier, comm: c.id}
	switch g.IntN(4) {
	case 0, 1:
		s.kind, s.rank = stepRevoke, g.member(c)
	case 2:
		s.kind = stepAgree
	}
	g.add(s)
}

// collect is some collective calls, and perhaps waits for those of them that go on by themselves.
func (g *generator) collect(c *group) {
	for range 1 + g.IntN(4) {
		call := calls.Draw(g.Rand, slices.Max(g.shape.sizes)/len(c.members))
		if len(c.grid.dims) > 0 && g.IntN(4) > 0 {
			call = calls.DrawOverGrid(g.Rand, slices.Max(g.shape.sizes)/len(c.members))
		}
		g.add(&step{kind: stepCollect, comm: c.id, call: call})
		if g.IntN(3) == 0 {
			g.post(c, g.member(c), g.member(c), modeStandard)
		}
		if g.IntN(3) == 0 {
			g.add(&step{kind: stepGather, rank: g.someone()})
		}
	}
}

// reshape makes communicators.
func (g *generator) reshape() {
	if len(g.program.comms) > maxComms-g.shape.ranks {
		return
	}
	c := g.comm()
	s := &step{kind: stepDup, comm: c.id, made: make([]int, g.shape.ranks), relaxed: c.relaxed}
	for i := range s.made {
		s.made[i] = -1
	}
	if g.IntN(3) == 0 {
		s.relaxed = !s.relaxed
	}
	var placed *group
	switch g.IntN(3) {
	case 0:
		g.joinAll(c.members, s)
	case 1:
		g.split(c, s)
	default:
		placed = g.place(c, s)
	}
	g.add(s)
	if placed != nil {
		g.collect(placed)
	}
}

// joinAll makes a communicator of some ranks.
func (g *generator) joinAll(members []int, s *step) *group {
	id := g.join(members, s.relaxed)
	for _, w := range members {
		s.made[w] = id
	}
	return g.program.comms[id]
}

// place makes a grid of the first ranks of a communicator, or of all of them.
func (g *generator) place(c *group, s *step) *group {
	s.kind, s.relaxed = stepGrid, c.relaxed
	places := 1
	for range 1 + g.IntN(3) {
		d := 1 + g.IntN(len(c.members)/places)
		places *= d
		s.grid.dims, s.grid.periodic = append(s.grid.dims, d), append(s.grid.periodic, g.IntN(2) == 0)
	}
	made := g.joinAll(c.members[:places], s)
	made.grid = s.grid
	return made
}

func (g *generator) split(c *group, s *step) {
	s.kind, s.colors, s.keys = stepSplit, make([]int, g.shape.ranks), make([]int, g.shape.ranks)
	for _, w := range c.members {
		s.colors[w], s.keys[w] = g.IntN(3)-1, g.IntN(3) // −1 is Undefined
	}
	for color := range 2 {
		var members []int
		for key := range 3 {
			for _, w := range c.members {
				if s.colors[w] == color && s.keys[w] == key {
					members = append(members, w)
				}
			}
		}
		if len(members) == 0 {
			continue
		}
		id := g.join(members, c.relaxed)
		for _, w := range members {
			s.made[w] = id
		}
	}
}

// free ends the use of a communicator, at times, where nothing is under way.
func (g *generator) free() {
	if i := g.IntN(len(g.live)); i > 0 && g.IntN(2) == 0 {
		g.add(&step{kind: stepFree, comm: g.live[i].id})
		g.live = slices.Delete(g.live, i, i+1)
	}
}
