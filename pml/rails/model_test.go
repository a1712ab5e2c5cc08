package rails

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/need"
)

// A world of one peer: ways that work, refuse, lose everything, cut and come back at any
// moment; a peer that lives, dies, says goodbye or nonsense; a launcher that passes calls
// on, or none. What is true of the ways is known here and not to the rails.
type world struct {
	*rand.Rand
	t               testing.TB
	seed            uint64
	env             Env
	peer            *Peer
	ways            []*way
	due             []due
	wake            int64 // when Next is to be asked again; 0: not
	log             []string
	dead            bool // the peer has ended,
	unkind          bool // or holds us for dead: it refuses, with proof
	doomed, damaged bool
	servedAt        int64 // when the peer was last served, or nothing depended on it
	hopeless        int64 // since when no way works; 0: one does
	wanted          int64 // since when something depends on the peer
	heard           bool
	signs           uint64
	depend          bool // something depends on the peer
	still           bool // one long frame is on its way
	moved           uint32
	broken          int  // connections, since anything got through at a beat, or nothing was to
	nobody          bool // the peer makes no contact by itself
	calling         bool // it was asked, and has not connected yet
	over            Reason
}

// due is what happens at a time.
type due struct {
	at int64
	do func()
}

type weather uint8

const (
	works   weather = iota
	refuses         // nobody listens, or so it seems; connections are reset
	loses           // everything, without a word
	cuts            // connections, and attempts to make one after a while
	oneWay          // only the peer can connect
	hollow          // can be connected, and something is heard, but nothing gets through
	weathers
)

// way is one way, as it is in truth.
type way struct {
	*Rail
	name    string
	weather weather
	since   int64 // when it came to be usable by this side; 0: it is not
	attempt int   // the number of the last one, and of the connection that it made
	oldest  int64
	wrong   bool // somebody else answers at its address
	ended   []outcome
}

// outcome is how an attempt has ended.
type outcome struct {
	at      int64
	began   int64
	refused bool
	final   bool
}

const (
	attemptTime = 2 * time.Second // until an attempt without an answer ends
	peerTimeout = 12 * time.Second
	// servedIn bounds how long a peer may go without service while some way works all the
	// time: until silence has connections made anew, attempts that were under way end, and
	// the longest pause is over.
	servedIn = 10 * time.Second
	// failedIn bounds how long a peer that can not be reached may go without having failed:
	// connections that carry nothing may come and go for a while, and end then.
	failedIn = 30 * time.Second
	// partedIn bounds how long a process that leaves waits for a peer that has left before, if
	// some address tells of that.
	partedIn = 15 * time.Second
)

func newWorld(t testing.TB, seed uint64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 0x5A7E)), t: t, seed: seed, peer: new(Peer), depend: true}
	w.env = Env{Now: int64(time.Hour), RailTimeout: 500 * time.Millisecond, PeerTimeout: peerTimeout, Appeals: w.IntN(2) == 0}
	w.nobody = w.IntN(3) > 0
	for i := range 1 + w.IntN(3) {
		w.add(fmt.Sprint("way ", i), 20+w.IntN(2), btl.NotSpare)
	}
	for i := range w.IntN(3) {
		r := w.add(fmt.Sprint("standby ", i), 10-2*i, btl.Spare(w.IntN(3)))
		w.peer.Standby = append(w.peer.Standby, r.Rail)
	}
	if w.IntN(4) == 0 {
		w.add("only the peer's", 20+w.IntN(2), btl.NotSpare).Foreign = true
	}
	if w.IntN(8) == 0 {
		w.add("somebody else's", 20+w.IntN(2), btl.NotSpare).wrong = true
	}
	w.servedAt = w.env.Now
	w.truth()
	return w
}

func (w *world) add(name string, tier int, spare btl.Spare) *way {
	v := &way{Rail: &Rail{Tier: tier, Spare: spare}, name: name, since: w.env.Now}
	v.Owner = v
	w.ways = append(w.ways, v)
	return v
}

func (w *world) chosen() (rails []*Rail) {
	for _, v := range w.ways {
		if !slices.Contains(w.peer.Standby, v.Rail) && !v.Foreign {
			rails = append(rails, v.Rail)
		}
	}
	return rails
}

func (w *world) note(format string, args ...any) {
	if len(w.log) > 60 {
		w.log = w.log[20:]
	}
	w.log = append(w.log, fmt.Sprintf("%9.3f ", float64(w.env.Now-int64(time.Hour))/1e9)+fmt.Sprintf(format, args...))
}

func (w *world) fatal(format string, args ...any) {
	for _, v := range w.ways {
		w.note("%s: %v, weather %d", v.name, v.State, v.weather)
	}
	w.t.Fatalf("seed %d: %s\n%s", w.seed, fmt.Sprintf(format, args...), strings.Join(w.log, "\n"))
}

func (w *world) after(d time.Duration, do func()) {
	w.due = append(w.due, due{w.env.Now + int64(d), do})
}

// run lets time pass.
func (w *world) run(d time.Duration) {
	end := w.env.Now + int64(d)
	for w.over == NoReason && w.peer.Stage != Closed {
		next, at := -1, end
		for i, d := range w.due {
			if d.at < at {
				next, at = i, d.at
			}
		}
		if w.wake != 0 && w.wake < at {
			next, at = -1, w.wake
		}
		if at == end && next < 0 && (w.wake == 0 || w.wake >= end) {
			w.env.Now = end
			return
		}
		w.env.Now = max(at, w.env.Now)
		if next >= 0 {
			do := w.due[next].do
			w.due = slices.Delete(w.due, next, next+1)
			do()
		}
		w.drive()
		w.check()
	}
}

// drive does what Next says.
func (w *world) drive() {
	for n := 0; ; n++ {
		if n > 100 {
			w.fatal("there is no end of what Next says")
		}
		switch s := w.peer.Next(w.env); s.Do {
		case Wait:
			if s.At != 0 && s.At <= w.env.Now {
				w.fatal("it waits for what is past")
			}
			w.wake = s.At
			return
		case Resolve:
			w.peer.Attach(w.chosen())
			w.peer.Want(w.env)
		case Connect:
			w.dial(s.Rail.Owner.(*way))
		case Activate:
			w.peer.Attach(append(slices.Clone(w.peer.Rails), s.Rails...))
		case Appeal:
			w.note("the peer is called")
			if !w.calling {
				w.calling = true
				w.after(50*time.Millisecond, w.called)
			}
		case Fail:
			w.fails(s.Reason)
			return
		}
	}
}

// dial is an attempt of this side to connect.
func (w *world) dial(v *way) {
	v.attempt++
	attempt, began := v.attempt, w.env.Now
	w.note("%s: dialled, weather %d", v.name, v.weather)
	wait := time.Duration(1+w.IntN(20)) * time.Millisecond
	if v.weather == loses || v.weather == oneWay {
		wait = attemptTime
	}
	w.after(wait, func() {
		if v.attempt != attempt || v.State != Connecting {
			return
		}
		err := error(syscall.ECONNREFUSED)
		switch {
		case wait == attemptTime, v.weather == loses, v.weather == oneWay:
			err = syscall.ETIMEDOUT
		case v.wrong:
			err = &btl.ConnError{Err: errors.New("no rank of this job"), Final: true}
		case w.dead || v.weather == refuses:
		case v.weather == cuts:
			err = io.EOF
		case w.unkind:
			err = &btl.ConnError{Err: btl.ErrUnwelcome, Final: true}
		default:
			w.up(v)
			return
		}
		v.ended = append(v.ended, outcome{w.env.Now, began, errors.Is(err, syscall.ECONNREFUSED), Final(err)})
		w.down(v, err)
	})
}

func (w *world) up(v *way) {
	w.note("%s: up", v.name)
	v.oldest, v.ended = w.env.Now, nil
	w.peer.Up(v.Rail, w.env)
	if v.weather == hollow {
		attempt := v.attempt
		w.after(300*time.Millisecond, func() {
			if v.attempt == attempt && v.weather == hollow {
				w.down(v, syscall.ECONNRESET)
			}
		})
	}
}

func (w *world) down(v *way, err error) {
	w.note("%s: down from %v, %v", v.name, v.State, err)
	v.attempt++
	if v.State.Connected() && w.IntN(4) == 0 {
		w.peer.Broken(v.Rail, w.env)
		attempt := v.attempt
		w.after(time.Millisecond, func() {
			if v.attempt == attempt {
				w.lost(v, err)
			}
		})
		return
	}
	w.lost(v, err)
}

// lost has the peer be told that a connection is over, or an attempt.
func (w *world) lost(v *way, err error) {
	if v.State.Connected() || v.State == Breaking {
		w.broken++
	}
	w.peer.Down(v.Rail, err, w.env)
}

// called has the peer connect: it goes on until it has.
func (w *world) called() {
	w.peerConnects()
	if w.calling = !w.peer.Connected() && w.peer.Stage == Known; w.calling {
		w.after(NextRail, w.called)
	}
}

// peerConnects has the peer connect by some way, if it can.
func (w *world) peerConnects() {
	if w.dead || w.unkind {
		return
	}
	for _, i := range w.Perm(len(w.ways)) {
		v := w.ways[i]
		if v.wrong || v.weather != works && v.weather != oneWay || v.State.Connected() {
			continue
		}
		w.note("the peer connects %s", v.name)
		if w.peer.Stage != Known {
			w.peer.Attach(w.chosen())
		}
		if i := slices.Index(w.peer.Standby, v.Rail); i >= 0 {
			w.peer.Standby = slices.Delete(w.peer.Standby, i, i+1)
		}
		if !slices.Contains(w.peer.Rails, v.Rail) {
			w.peer.Attach(append(slices.Clone(w.peer.Rails), v.Rail))
		}
		v.attempt++
		w.peer.Adopt(v.Rail, w.env)
		w.up(v)
		return
	}
}

// usable reports whether this side can connect the way, and use it.
func (w *world) usable(v *way) bool {
	return v.weather == works && !w.dead && !w.unkind && !v.Foreign && !v.wrong
}

// change has the truth change.
func (w *world) change(v *way, to weather) {
	w.note("%s: weather %d becomes %d", v.name, v.weather, to)
	v.weather = to
	w.truth()
	if (to == refuses || to == cuts || to == hollow || to == works && (w.dead || w.unkind)) && v.State.Connected() {
		w.down(v, syscall.ECONNRESET)
	}
}

func (w *world) truth() {
	hope := false
	defer func() {
		switch {
		case hope:
			w.hopeless = 0
		case w.hopeless == 0:
			w.hopeless = w.env.Now
		}
	}()
	for _, v := range w.ways {
		hope = hope || w.carries(v)
		switch {
		case !w.usable(v):
			v.since = 0
		case v.since == 0:
			v.since = w.env.Now
		}
	}
}

// served reports whether something gets through.
func (w *world) served() bool {
	return slices.ContainsFunc(w.ways, func(v *way) bool { return v.State == Up && w.carries(v) })
}

func (w *world) carries(v *way) bool {
	return !w.dead && !v.wrong && (v.weather == works || v.weather == oneWay)
}

// look is the look at the rails.
func (w *world) look() {
	w.after(w.env.RailTimeout/4, w.look)
	w.signs++
	for _, v := range w.ways {
		if !v.State.Connected() {
			continue
		}
		w.heard = w.heard || v.weather == hollow && !w.dead
		if w.carries(v) {
			w.heard, v.oldest = true, w.env.Now
			if (v.State == Up || v.State == Doubted) && !w.still {
				w.env.Moved++
			}
		}
		s := Sample{Waits: v.State == Up || v.State == Doubted, Oldest: v.oldest}
		if w.carries(v) {
			s.Signs, s.Heard, s.Carried = w.signs, w.signs, int64(w.signs)<<20
		}
		v.Sample(s)
	}
	for _, v := range w.ways {
		if v.State == Trial && w.carries(v) && !w.peer.Probed(v.Rail, w.env) {
			w.note("%s: has passed its trial", v.name)
		}
		f := w.peer.Look(v.Rail, w.env)
		if f.Fault != NoFault {
			w.note("%s: given up, %d", v.name, f.Fault)
			w.down(v, errors.New("given up"))
		}
		if f.Others {
			for _, r := range w.peer.Rails {
				if w.peer.Open(r, w.env) {
					w.dial(r.Owner.(*way))
				}
			}
		}
		w.drive()
	}
}

func (w *world) beat() {
	w.after(peerTimeout/BeatsInTimeout, w.beat)
	if !w.depend || w.moved != w.env.Moved {
		w.moved, w.broken = w.env.Moved, 0
	}
	if !w.depend {
		w.peer.Rest()
		return
	}
	if w.peer.Beat(w.heard, true, w.env) {
		for _, v := range w.ways {
			if v.State.Connected() && !v.Foreign {
				w.down(v, errors.New("silent"))
			}
		}
	}
	w.heard = false
}

// check holds the states against each other, and against the truth.
func (w *world) check() {
	if w.over != NoReason {
		return
	}
	p, top, up, trusted := w.peer, -1, 0, false
	for _, r := range p.Rails {
		if r.State.Connected() && r.State != Trial {
			top, trusted = max(top, r.Tier), trusted || r.State == Up
		}
		if r.State == Up {
			up++
		}
	}
	for _, r := range p.Rails {
		name := r.Owner.(*way).name
		switch {
		case r.State == Up && r.Tier != top:
			w.fatal("%s is up, though one of a higher tier is connected", name)
		case (r.State == Doubted || r.State == Trial) && up == 0:
			w.fatal("%s is %v, and no other carries messages", name, r.State)
		case r.State == Resting && r.Tier >= top:
			w.fatal("%s rests, and none of a higher tier is connected", name)
		}
	}
	if !w.depend || p.Stage != Known || w.served() {
		w.servedAt = w.env.Now
	}
	for _, v := range w.ways {
		if v.since != 0 && w.env.Now-max(v.since, w.servedAt) > int64(servedIn) {
			w.fatal("%s works, and for %v the peer was not served", v.name, servedIn)
		}
	}
	if w.depend && w.hopeless != 0 && w.env.PeerTimeout != 0 && w.env.Now-max(w.hopeless, w.wanted) > int64(failedIn) {
		w.fatal("no way works, and for %v the peer has not failed", failedIn)
	}
}

// fails checks that there was reason to declare the peer failed.
func (w *world) fails(why Reason) {
	w.note("the peer has failed, %d", why)
	w.over = why
	w.peer.End(Failed)
	first, last := int64(0), w.env.Now // what the attempts by all ways say
	for _, v := range w.ways {
		if slices.Contains(w.peer.Standby, v.Rail) || v.Foreign {
			continue
		}
		since, until, final := int64(0), int64(0), v.State == Gone
		for i := len(v.ended) - 1; i >= 0 && (v.ended[i].refused || why == Unreachable); i-- {
			until = max(until, v.ended[i].at)
			if since = v.ended[i].at; !v.ended[i].refused {
				since = min(since, v.ended[i].began)
			}
		}
		switch {
		case w.env.Parting:
		case why == Refusal && !final:
			w.fatal("%s was not refused with proof", v.name)
		case (why == Departure || why == Unreachable && !final) && until == 0:
			w.fatal("%s was not tried", v.name)
		}
		if !final {
			first, last = max(first, since), min(last, until)
		}
		if v.since != 0 && why == Silence && w.env.Now-v.since > int64(servedIn) {
			w.fatal("%s works", v.name)
		}
	}
	switch {
	case w.env.Parting:
		w.wasSaid(why)
	case why == Departure && last-first < int64(Absence):
		w.fatal("at one time its addresses have refused for no longer than %v", time.Duration(last-first))
	case why == Unreachable && (w.peer.Met || last < first):
		w.fatal("it is to be unreachable, and was met, or its ways have not failed at one time")
	case why == LaunchersWord && !w.doomed || why == Damage && !w.damaged:
		w.fatal("nobody said so")
	case why == Standstill && w.broken < manyBreaks:
		w.fatal("%d connections have broken while nothing got through", w.broken)
	case why == NoReason:
		w.fatal("there is no reason")
	}
}

// wasSaid checks that somebody has said so: the launcher, the peer, one of its addresses, or
// the beats, before they ended.
func (w *world) wasSaid(why Reason) {
	switch {
	case why == Refusal && w.unkind, why == LaunchersWord && w.doomed, why == Damage && w.damaged, why == Silence, why == Standstill:
		return
	}
	said := why == Departure && slices.ContainsFunc(w.ways, func(v *way) bool { return v.refused.last-max(v.refused.since, w.peer.lost) >= int64(Absence) })
	if !said {
		w.fatal("no address has said so for long enough")
	}
	for _, v := range w.ways {
		if v.since != 0 && w.env.Now-v.since > int64(servedIn) {
			w.fatal("%s works", v.name)
		}
	}
}

// leave has this process leave, with nothing to say but goodbye. Where a way works it is
// said. Where none does it need not be said if some address tells that the peer has left.
func (w *world) leave() {
	w.note("this process leaves")
	w.env.Leaving, w.env.Parting, w.depend = true, true, false
	w.drive()
	for range 10 {
		w.run(time.Duration(w.IntN(1+1<<w.IntN(13))) * time.Millisecond)
		if w.over != NoReason || w.peer.Stage != Known {
			return
		}
		w.happen()
		w.depend = false
	}
	w.run(partedIn)
	feigned := slices.ContainsFunc(w.ways, func(v *way) bool { return v.weather == hollow })
	if w.over != NoReason || w.served() || w.peer.Stage != Known || feigned {
		return
	}
	for _, v := range w.ways {
		if w.env.Appeals && w.carries(v) && !w.unkind {
			w.fatal("the peer could connect %s, and was not told goodbye", v.name)
		}
		tells := !v.wrong && (v.weather == refuses || v.weather == works && (w.dead || v.met))
		if tells && !v.Foreign && !slices.Contains(w.peer.Standby, v.Rail) {
			w.fatal("%s tells that the peer has left, and it is waited for", v.name)
		}
	}
}

// happen has something happen.
func (w *world) happen() {
	switch n := w.IntN(100); {
	case n < 70:
		w.change(w.ways[w.IntN(len(w.ways))], weather(w.IntN(int(weathers))))
	case n < 85:
		w.change(w.ways[w.IntN(len(w.ways))], works)
	case n < 90 && w.peer.Met && !w.nobody:
		w.peerConnects()
	case n < 92:
		w.dead = true
		w.truth()
		for _, v := range w.ways {
			if v.State.Connected() && v.weather == works {
				w.down(v, io.EOF)
			}
		}
		if w.env.Appeals && w.IntN(2) == 0 {
			w.doomed = true
			w.peer.Doom(w.env)
		}
		w.note("the peer has died")
	case n < 93 && w.peer.Met:
		w.unkind = true
		w.note("the peer refuses")
		w.truth()
		for _, v := range w.ways {
			if v.State.Connected() && v.weather == works {
				w.down(v, io.EOF)
			}
		}
	case n < 94 && w.peer.Connected():
		w.damaged = true
		w.peer.Damage()
	case n < 95 && w.served():
		w.peer.End(Closed)
	case n < 97:
		w.depend = !w.depend
		w.wanted = w.env.Now
	case n < 98 && w.served():
		w.idle()
	}
	w.drive()
	w.check()
}

// idle has connections break that nothing depends on, as a middlebox does to them, and then one
// long frame be on its way.
func (w *world) idle() {
	w.still = true
	w.run(2 * peerTimeout / BeatsInTimeout)
	w.depend = false
	for range manyBreaks {
		w.run(peerTimeout / BeatsInTimeout)
		for _, v := range w.ways {
			if v.State.Connected() {
				w.down(v, syscall.ECONNRESET)
			}
		}
		w.drive()
	}
	w.depend, w.wanted = true, w.env.Now
	w.after(peerTimeout*3/2, func() { w.still = false })
}

// No sequence of events leaves a peer neither served nor failed, for longer than there is
// reason to.
func TestPeerIsServedOrFails(t *testing.T) {
	reasons, parted := make(map[Reason]int), make(map[Reason]int)
	for seed := range need.Seeds(t, 1000, 1_000_000) {
		w := newWorld(t, seed)
		w.peer.Want(w.env)
		w.look()
		w.beat()
		w.drive()
		for range 30 {
			w.run(time.Duration(w.IntN(1+1<<w.IntN(13))) * time.Millisecond)
			if w.over != NoReason || w.peer.Stage == Closed {
				break
			}
			w.happen()
		}
		if w.over == NoReason && w.peer.Stage == Known && w.peer.Met && w.IntN(3) == 0 {
			w.leave()
			parted[w.over]++
			continue
		}
		w.run(servedIn + failedIn + 10*time.Second)
		reasons[w.over]++
	}
	if need.Replays() {
		return
	}
	for why := NoReason; why <= Unreachable; why++ {
		require.Positive(t, reasons[why], "no peer failed for reason %d", why)
	}
	for _, why := range []Reason{NoReason, Refusal, Departure} {
		require.Positive(t, parted[why], "no peer that was left had failed for reason %d", why)
	}
}

// Networks that refuse in turn, never all at once, do not end a peer, however long that
// goes on; nor do networks that are cut so, nor at first contact.
func TestNetworksThatFailInTurn(t *testing.T) {
	for seed := range need.Seeds(t, 100, 100_000) {
		w := newWorld(t, seed)
		w.env.Appeals = false
		right := slices.DeleteFunc(w.chosen(), func(r *Rail) bool { return r.Owner.(*way).wrong })
		for range 2 - len(right) { // at an address that is somebody else's the peer is never met
			w.add("another way", 20, btl.NotSpare)
		}
		for _, r := range w.chosen() {
			r.Tier = 20
		}
		bad, how := w.ways[0], []weather{refuses, cuts}[w.IntN(2)]
		w.change(bad, how)
		w.peer.Want(w.env)
		w.look()
		w.beat()
		w.drive()
		for range 30 {
			w.run(time.Duration(10+w.IntN(3000)) * time.Millisecond)
			next := w.ways[w.IntN(len(w.ways))]
			w.change(bad, works)
			w.change(next, how)
			bad = next
			w.drive()
			w.check()
			require.Equal(t, NoReason, w.over, "seed %d: %s", seed, strings.Join(w.log, "\n"))
		}
		w.change(bad, works)
		w.run(servedIn)
		require.True(t, w.served())
	}
}
