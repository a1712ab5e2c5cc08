package programs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/strandmp/strand"
)

// A farewell is how the ranks of a session part. Some leave in mid-transfer: they start
// sends and receives and close their worlds, and who sends overwrites each buffer as soon as
// its send has ended, well or not. At most one stays until the others have closed, and
// receives until it is told that nobody is left.
type farewell struct {
	seed    uint64
	ranks   int
	stayer  int // −1: all leave
	how     staying
	letters []*message
	modes   []mode // by letter
	wanted  []want // receives, in the order of posting
}

// A want is a receive that a rank posts.
type want struct {
	rank, source, tag, room int
}

// staying is how the one that stays receives.
type staying uint8

const (
	postsAll    staying = iota // receives posted in advance, more than there are messages
	receivesAny                // one receive after the other, from any source
	probesAny                  // probes for any message, and receives it
	pollsAny                   // the same without waiting
	brieflyAny                 // receives with contexts that end
	stayings
)

var stayingNames = [...]string{"posts receives in advance", "receives from any source", "probes", "polls", "receives with contexts that end"}

// briefSize is how long a message is at most that is received with contexts that end: it
// starts anew with each of them.
const briefSize = 1 << 20

// openTag is the tag of messages that only receives from any source are for.
const openTag = 9

// drawFarewell draws how the ranks part.
func drawFarewell(r *rand.Rand, sh shape) *farewell {
	f := &farewell{seed: r.Uint64(), ranks: sh.ranks, stayer: r.IntN(sh.ranks+1) - 1, how: staying(r.IntN(int(stayings)))}
	index := make(map[[2]int]int)
	longest := 0
	for range r.IntN(6 * sh.ranks) {
		from, to := r.IntN(sh.ranks), r.IntN(sh.ranks)
		if from == to || from == f.stayer {
			continue
		}
		m := &message{id: len(f.letters), from: from, to: to, index: index[[2]int{from, to}], tag: pick(r, 0, 1, openTag), size: drawSize(r, sh)}
		index[[2]int{from, to}]++
		if to == f.stayer && f.how == brieflyAny {
			m.size = min(m.size, briefSize)
		}
		longest = max(longest, m.size)
		f.letters = append(f.letters, m)
		f.modes = append(f.modes, mode(r.IntN(3)))
	}
	for _, m := range f.letters {
		if m.to == f.stayer && f.how == postsAll || r.IntN(4) > 0 {
			f.want(m, longest)
		}
	}
	for range r.IntN(2 * sh.ranks) { // for which there may be no message
		from, to := r.IntN(sh.ranks), r.IntN(sh.ranks)
		if from != to && from != f.stayer {
			f.want(&message{from: from, to: to, tag: pick(r, 0, 1, openTag)}, longest)
		}
	}
	r.Shuffle(len(f.wanted), func(i, j int) { f.wanted[i], f.wanted[j] = f.wanted[j], f.wanted[i] })
	return f
}

func drawSize(r *rand.Rand, sh shape) int {
	if r.IntN(4) == 0 {
		return r.IntN(100)
	}
	n := max(0, sh.sizes[r.IntN(len(sh.sizes))]+r.IntN(3)-1)
	if r.IntN(2) == 0 {
		n *= 1 + r.IntN(pick(r, 10, 100, 1000)) // many frames, of which some are under way when the world closes
	}
	return min(n, sh.farewell)
}

// want has a receive posted that a message fits, unless its rank receives otherwise.
func (f *farewell) want(m *message, room int) {
	if m.to == f.stayer && f.how != postsAll {
		return
	}
	w := want{m.to, m.from, m.tag, room}
	if m.tag == openTag {
		w.source = strand.AnySource
	}
	f.wanted = append(f.wanted, w)
}

// A parting is what has become of a farewell's sends and receives.
type parting struct {
	sent     []error // by letter
	received []arrival
	loose    []arrival // what the one that stays has received otherwise, in order
	end      error     // how that has ended
}

// An arrival is how a receive has ended.
type arrival struct {
	st      strand.Status
	err     error
	damaged string // how its bytes differ from what was sent
	letter  *message
}

// judge holds what has happened against what may.
func (f *farewell) judge(p *parting) error {
	return f.verdict(func(got map[*message]bool, say func(string, ...any)) {
		for rank := range f.ranks {
			f.judgeRank(rank, p, got, say)
		}
		for i, m := range f.letters {
			if f.modes[i] == modeSynchronous && p.sent[i] == nil && !got[m] {
				say("%v: its synchronous send has ended well, and no receive has it", m)
			}
		}
	})
}

// verdict collects what a judge says into an error.
func (f *farewell) verdict(judge func(got map[*message]bool, say func(string, ...any))) error {
	var wrong []string
	judge(make(map[*message]bool), func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) })
	if len(wrong) > 0 {
		return fmt.Errorf("parting: %s\n%v", strings.Join(wrong, "\n"), f)
	}
	return nil
}

// judgeRank judges what one rank has seen, and notes which letters it has got.
func (f *farewell) judgeRank(rank int, p *parting, got map[*message]bool, say func(string, ...any)) {
	for i, m := range f.letters {
		if err := p.sent[i]; m.from == rank && err != nil && (m.to == f.stayer || !isParting(err, false)) {
			say("%v, %s, has ended with: %v", m, modeNames[f.modes[i]], err)
		}
	}
	for i, w := range f.wanted {
		if w.rank == rank {
			f.judgeWant(w, &p.received[i], got, say)
		}
	}
	if rank != f.stayer {
		return
	}
	for _, a := range p.loose {
		f.identify(rank, &a, got, say)
	}
	f.judgeStayer(p, got, say)
}

func (f *farewell) judgeWant(w want, a *arrival, got map[*message]bool, say func(string, ...any)) {
	if a.err == nil {
		if a.st.Tag != w.tag || w.source != strand.AnySource && a.st.Source != w.source {
			say("%+v has got a message that it does not fit: %+v", w, a.st)
		}
		f.identify(w.rank, a, got, say)
	} else if !isParting(a.err, w.rank != f.stayer) {
		say("%+v has ended with: %v", w, a.err)
	}
}

// identify finds the letter that a receive has got: the oldest of its sender and tag that no
// earlier receive has.
func (f *farewell) identify(to int, a *arrival, got map[*message]bool, say func(string, ...any)) {
	for _, m := range f.letters {
		if m.to != to || m.from != a.st.Source || m.tag != a.st.Tag || got[m] {
			continue
		}
		got[m] = true
		if a.damaged != "" || m.size != a.st.Count || a.letter != nil && a.letter != m {
			say("rank %d has received something else than %v: %+v, %s", to, m, a.st, a.damaged)
		}
		return
	}
	say("rank %d has received a message that nobody sent: %+v", to, a.st)
}

// judgeStayer: everything that was sent to the one that stays is received; it is told
// that the others have closed by receives for which there is nothing.
func (f *farewell) judgeStayer(p *parting, got map[*message]bool, say func(string, ...any)) {
	for _, m := range f.letters {
		if m.to == f.stayer && !got[m] {
			say("%v was never received, though rank %d has stayed", m, f.stayer)
		}
	}
	if !isParting(p.end, false) {
		say("rank %d, for which nothing is left, is told: %v", f.stayer, p.end)
	}
}

func (f *farewell) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "farewell %#x of %d ranks", f.seed, f.ranks)
	if f.stayer >= 0 {
		fmt.Fprintf(&b, ", rank %d stays and %s", f.stayer, stayingNames[f.how])
	}
	for i, m := range f.letters {
		fmt.Fprintf(&b, "\n%4d send, %s: %v", i, modeNames[f.modes[i]], m)
	}
	for i, w := range f.wanted {
		fmt.Fprintf(&b, "\n%4d rank %d receives from %d, tag %d, room for %d", i, w.rank, w.source, w.tag, w.room)
	}
	return b.String()
}

// keep leaves the letters and receives of the given numbers alone.
func (f *farewell) keep(letters, wanted []int) *farewell {
	g := *f
	g.letters, g.modes, g.wanted = nil, nil, nil
	for i, m := range f.letters {
		if slices.Contains(letters, i) {
			g.letters, g.modes = append(g.letters, m), append(g.modes, f.modes[i])
		}
	}
	for i, w := range f.wanted {
		if slices.Contains(wanted, i) {
			g.wanted = append(g.wanted, w)
		}
	}
	return &g
}
