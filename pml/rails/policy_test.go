package rails

import (
	"errors"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
)

// at is a time, with the rest of what there is.
func at(d time.Duration) Env {
	return Env{Now: int64(time.Hour + d), RailTimeout: 500 * time.Millisecond, PeerTimeout: 30 * time.Second}
}

// known returns a peer with rails of these tiers, which is wanted.
func known(tiers ...int) *Peer {
	p := new(Peer)
	var all []*Rail
	for _, tier := range tiers {
		all = append(all, &Rail{Tier: tier})
	}
	p.Attach(all)
	p.Want(at(0))
	return p
}

// next checks which rail is to connect now.
func (p *Peer) next(t *testing.T, e Env, want *Rail) {
	t.Helper()
	s := p.Next(e)
	require.Equal(t, Connect, s.Do)
	require.Same(t, want, s.Rail)
}

// A rail of a lower tier rests while one of a higher is connected, doubted ones and those
// on trial carry messages where no others do.
func TestWhichRailsCarry(t *testing.T) {
	for name, c := range map[string]struct {
		tiers         []int
		before, after []State
	}{
		"a higher tier":             {[]int{2, 1}, []State{Up, Up}, []State{Up, Resting}},
		"it is back to serve":       {[]int{2, 1}, []State{Down, Resting}, []State{Down, Up}},
		"one of two is doubted":     {[]int{1, 1}, []State{Doubted, Up}, []State{Doubted, Up}},
		"both are":                  {[]int{1, 1}, []State{Doubted, Doubted}, []State{Up, Up}},
		"the only one is":           {[]int{1, 1}, []State{Doubted, Down}, []State{Up, Down}},
		"on trial beside another":   {[]int{2, 1}, []State{Trial, Up}, []State{Trial, Up}},
		"on trial alone":            {[]int{2, 1}, []State{Trial, Idle}, []State{Up, Idle}},
		"all on trial":              {[]int{2, 1}, []State{Trial, Trial}, []State{Up, Resting}},
		"on trial beside a doubted": {[]int{1, 1}, []State{Trial, Doubted}, []State{Trial, Up}},
	} {
		p := known(c.tiers...)
		for i, r := range p.Rails {
			r.State = c.before[i]
		}
		p.settle()
		for i, r := range p.Rails {
			assert.Equal(t, c.after[i], r.State, "%s: rail %d", name, i)
		}
	}
}

func TestRailsAreTriedOneAfterTheOther(t *testing.T) {
	p := known(1, 1, 1)
	p.next(t, at(0), p.Rails[0])
	require.Equal(t, at(NextRail).Now, p.Next(at(0)).At)
	p.next(t, at(NextRail), p.Rails[1])
	p.next(t, at(2*NextRail), p.Rails[2])
	p.Up(p.Rails[1], at(3*NextRail))
	assert.Equal(t, Step{}, p.Next(at(3*NextRail)))
}

// Spare paths are called in one by one, before other transports.
func TestSparePathsAreCalledInOneByOne(t *testing.T) {
	p := known(201)
	first, second := &Rail{Tier: 200, Spare: btl.Detour}, &Rail{Tier: 200, Spare: btl.Parallel}
	third, fourth := &Rail{Tier: 101}, &Rail{Tier: 101}
	p.Standby = []*Rail{first, second, third, fourth}
	p.next(t, at(0), p.Rails[0])
	for i, want := range [][]*Rail{{first}, {second}, {third, fourth}} {
		now := at(time.Duration(i+1) * NextRail)
		s := p.Next(now)
		require.Equal(t, Activate, s.Do)
		require.Equal(t, want, s.Rails)
		p.Attach(append(p.Rails, s.Rails...))
		p.next(t, now, want[0])
	}
}

// A peer whose process has ended refuses at all its addresses: the spare ones would only
// take time.
func TestSparePathsToAProcessThatHasEnded(t *testing.T) {
	for _, met := range []bool{false, true} {
		p := known(201)
		p.Met = met
		p.Standby = []*Rail{{Tier: 200, Spare: btl.Detour}}
		p.next(t, at(0), p.Rails[0])
		p.Down(p.Rails[0], syscall.ECONNREFUSED, at(time.Millisecond))
		if !met {
			require.Equal(t, Activate, p.Next(at(time.Millisecond)).Do, "it was never there: another host may refuse")
			continue
		}
		for s := p.Next(at(Absence - 1)); s.Do == Connect; s = p.Next(at(Absence - 1)) {
			p.Down(p.Rails[0], syscall.ECONNREFUSED, at(Absence-1))
		}
		require.Len(t, p.Standby, 1)
	}
}

// The only rail to a peer is borne with when it is silent, but not if something stands by
// that does not go over the same interfaces.
func TestSilentRailGivesWay(t *testing.T) {
	p := known(201)
	only := p.Rails[0]
	assert.False(t, p.Alternatives())
	assert.False(t, p.hasOther(only))
	p.Standby = []*Rail{{Tier: 200, Spare: btl.Parallel}}
	assert.False(t, p.Alternatives())
	assert.False(t, p.hasOther(only))
	p.Standby = []*Rail{{Tier: 101}}
	assert.True(t, p.Alternatives())
	assert.True(t, p.hasOther(only))
	p.Attach(append(p.Rails, p.Standby...))
	p.Standby = nil
	assert.True(t, p.hasOther(only), "it can be connected")
	assert.False(t, p.hasOther(p.Rails[1]), "there is nothing below it")
	p.Shut(p.Rails[1])
	assert.False(t, p.hasOther(only), "it was refused for good")
}

// What a failure says of the rail.
func TestFailuresAreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		from State
		met  bool
		err  error
		want State
	}{
		"a connection is reset":             {from: Up, met: true, err: syscall.ECONNRESET, want: Down},
		"nobody listens":                    {met: true, err: syscall.ECONNREFUSED, want: Down},
		"there are no descriptors":          {met: true, err: syscall.EMFILE, want: Down},
		"the handshake is cut off":          {met: true, err: io.EOF, want: Down},
		"it is proved that it is of no use": {met: true, err: &btl.ConnError{Err: errors.New("not welcome"), Final: true}, want: Gone},
		"the network never worked":          {err: syscall.ENETUNREACH, want: Down},
	} {
		p := known(1)
		p.Met, p.Rails[0].State = c.met, c.from
		p.Down(p.Rails[0], c.err, at(0))
		assert.Equal(t, c.want, p.Rails[0].State, name)
	}
}

// That nobody answered before the first connection is no silence of who has answered now, nor a standstill.
func TestFirstContactThatTookLong(t *testing.T) {
	p := known(1)
	for range 2 * BeatsInTimeout {
		p.Beat(false, true, at(0))
	}
	p.Up(p.Rails[0], at(0))
	assert.Equal(t, NoReason, p.Evidence(at(0)).Verdict())
	for range manyBreaks {
		p.Down(p.Rails[0], syscall.ECONNRESET, at(0))
		p.Up(p.Rails[0], at(0))
	}
	assert.Equal(t, NoReason, p.Evidence(at(0)).Verdict())
	for range Missable {
		p.Beat(false, true, at(0))
	}
	assert.Equal(t, Silence, p.Evidence(at(0)).Verdict())
}

// An address that is somebody else's says nothing of the peer, which may be reached by what stands by. If the peer itself
// refuses, that is tried no more.
func TestStandbyWhereAnAddressIsSomebodyElses(t *testing.T) {
	elses, refusal := errors.New("no rank of this job"), btl.ErrUnwelcome
	for _, spare := range []btl.Spare{btl.NotSpare, btl.Detour, btl.Parallel} {
		p := known(21)
		standby := &Rail{Tier: 20, Spare: spare}
		p.Standby = []*Rail{standby}
		p.next(t, at(0), p.Rails[0])
		p.Down(p.Rails[0], &btl.ConnError{Err: elses, Final: true}, at(0))
		require.Equal(t, Step{Do: Activate, Rails: []*Rail{standby}}, p.Next(at(0)))
		p.Attach(append(p.Rails, standby))
		p.next(t, at(0), standby)
		p.Down(standby, &btl.ConnError{Err: elses, Final: true}, at(0))
		require.Equal(t, Step{Do: Fail, Reason: Refusal}, p.Next(at(0)))

		p = known(21)
		p.Standby = []*Rail{standby}
		p.next(t, at(0), p.Rails[0])
		p.Down(p.Rails[0], &btl.ConnError{Err: refusal, Final: true}, at(0))
		require.Equal(t, Step{Do: Fail, Reason: Refusal}, p.Next(at(0)))
	}
}

// Connections that break while nothing depends on the peer do not count against what does later.
func TestIdleConnectionsMayBreak(t *testing.T) {
	p := known(1)
	for range manyBreaks {
		p.Up(p.Rails[0], at(0))
		p.Rest()
		p.Down(p.Rails[0], syscall.ECONNRESET, at(0))
	}
	p.Up(p.Rails[0], at(0))
	p.Rest()
	for range Missable {
		p.Beat(true, true, at(0)) // it is heard, and has not all of one long frame
	}
	assert.Equal(t, NoReason, p.Evidence(at(0)).Verdict())
}

// Connections over which nothing gets through are made again ever more rarely.
func TestFutileConnectionsRest(t *testing.T) {
	p := known(1)
	r, last := p.Rails[0], time.Duration(0)
	for range 20 {
		p.Up(r, at(0))
		p.Down(r, syscall.ECONNRESET, at(0))
		require.GreaterOrEqual(t, r.rest(), last)
		last = r.rest()
	}
	assert.Equal(t, time.Second, last)
	p.Up(r, at(0))
	e := at(0)
	e.Moved = 1
	p.Down(r, syscall.ECONNRESET, e)
	assert.Zero(t, r.rest())
}

// A connection that comes, and breaks while it is on trial, again and again is made ever more
// rarely; when a trial is passed that is forgotten.
func TestFailedTrialsRest(t *testing.T) {
	p := known(1, 1)
	a, b := p.Rails[0], p.Rails[1]
	p.Up(a, at(0))
	now, made := time.Duration(0), 0
	comeAndGo := func() {
		p.Up(b, at(now))
		made++
		p.Down(b, syscall.ECONNRESET, at(now))
	}
	for comeAndGo(); now < time.Minute; comeAndGo() {
		now = time.Duration(p.Next(at(now)).At) - time.Hour
		p.next(t, at(now), b)
	}
	assert.Less(t, made, 40, "in a minute")
	p.Up(b, at(now))
	for p.Probed(b, at(now)) {
	}
	require.Equal(t, Up, b.State)
	p.Down(b, syscall.ECONNRESET, at(now))
	require.Equal(t, at(now+firstPause).Now, p.Next(at(now)).At)
}

// A rail that had a long pause, since another one carried on, is tried at once when that is
// lost.
func TestPausesEndWithTheOtherRail(t *testing.T) {
	p := known(1, 1)
	a, b := p.Rails[0], p.Rails[1]
	p.Up(b, at(0))
	p.Down(b, syscall.ECONNRESET, at(0))
	p.Up(a, at(0))
	for range 3 {
		p.Up(b, at(0))
		p.Down(b, syscall.ECONNRESET, at(0))
		b.pause = lastPause
	}
	require.Equal(t, at(lastPause).Now, p.Next(at(0)).At)
	p.Down(a, syscall.ECONNRESET, at(10*time.Millisecond))
	p.next(t, at(10*time.Millisecond), a)
	p.next(t, at(10*time.Millisecond+NextRail), b)
}

// It is tried soon, too, where the other one gives no sign of life: that is not lost for it, as it is the only one.
func TestPausesAreShortWhereNothingIsHeard(t *testing.T) {
	p := known(1, 1)
	a, b := p.Rails[0], p.Rails[1]
	p.Up(a, at(0))
	p.Up(b, at(0))
	p.Down(b, syscall.ECONNRESET, at(0))
	b.pause = lastPause
	require.Equal(t, at(lastPause).Now, p.Next(at(0)).At)
	a.Sample(Sample{Waits: true, Oldest: at(0).Now})
	p.Look(a, at(200*time.Millisecond))
	require.Equal(t, Wait, p.Next(at(firstPause)).Do)
	require.True(t, p.Look(a, at(300*time.Millisecond)).Others)
	p.next(t, at(300*time.Millisecond), b)
	p.Down(b, syscall.ETIMEDOUT, at(400*time.Millisecond))
	require.Equal(t, at(400*time.Millisecond+firstPause).Now, p.Next(at(400*time.Millisecond)).At)
	a.Sample(Sample{Waits: true, Oldest: at(0).Now, Signs: 1})
	p.Look(a, at(500*time.Millisecond))
	assert.Greater(t, p.Next(at(500*time.Millisecond)).At, at(400*time.Millisecond+firstPause).Now, "it is heard again")
}

// What a process has not looked at is no silence: when it has been stopped it has the peer asked, which may have been
// stopped too, before it gives a rail up.
func TestSilenceThatNobodyHasLookedAt(t *testing.T) {
	p := known(1, 1)
	a, b := p.Rails[0], p.Rails[1]
	p.Up(a, at(0))
	p.Up(b, at(0))
	look := func(d time.Duration) Finding {
		a.Sample(Sample{Waits: true, Oldest: at(0).Now})
		return p.Look(a, at(d))
	}
	require.Equal(t, Finding{Watch: true}, look(100*time.Millisecond))
	back := 10 * time.Second
	f := look(back)
	require.Equal(t, NoFault, f.Fault)
	assert.True(t, f.Ask)
	require.Equal(t, NoFault, look(back+100*time.Millisecond).Fault)
	assert.Equal(t, Silent, look(back+500*time.Millisecond).Fault)
}

// Processes of a job are stopped one after the other: this one has heard nothing of the peer for most of pml_rail_timeout
// when it is stopped itself. The peer is asked anew, once in a silence.
func TestProcessIsStoppedInASilence(t *testing.T) {
	p := known(1, 1)
	a, b := p.Rails[0], p.Rails[1]
	p.Up(a, at(0))
	p.Up(b, at(0))
	signs := uint64(0)
	look := func(d time.Duration) Finding {
		a.Sample(Sample{Waits: true, Oldest: at(0).Now, Signs: signs})
		return p.Look(a, at(d))
	}
	const pace = 100 * time.Millisecond
	now := time.Duration(0)
	silent := func(d time.Duration) {
		for range d / pace {
			now += pace
			require.Equal(t, NoFault, look(now).Fault)
		}
	}
	for range 2 {
		silent(4 * pace)
		now += 10 * time.Second
		f := look(now)
		require.Equal(t, NoFault, f.Fault)
		require.True(t, f.Ask)
		silent(2 * pace)
		signs++
		now += pace
		require.Equal(t, NoFault, look(now).Fault)
	}
	silent(4 * pace)
	now += 10 * time.Second
	require.Equal(t, NoFault, look(now).Fault)
	now += 10 * time.Second
	require.Equal(t, Silent, look(now).Fault, "a second stop does not count")
}

// looks has a rail looked at every eighth of pml_rail_timeout from one time to another, with a sample each, and returns the
// first finding with a fault, or the last one.
func (p *Peer) looks(r *Rail, from, to time.Duration, s func() Sample) (f Finding, when time.Duration) {
	step := at(0).RailTimeout / 8
	for when = from + step; when <= to; when += step {
		if s != nil {
			r.Sample(s())
		}
		if f = p.Look(r, at(when)); f.Fault != NoFault {
			break
		}
	}
	return f, when
}

// Nor does a rail creep because its process was stopped: what the process has to do itself for a long frame to go on stood still
// too.
func TestProcessIsStoppedWhileALongFrameIsOnItsWay(t *testing.T) {
	const rate = 0.1 // bytes a nanosecond
	p := known(1, 1)
	a, b := p.Rails[0], p.Rails[1]
	p.Up(a, at(0))
	p.Up(b, at(0))
	now, carried, signs := time.Duration(0), int64(0), uint64(0)
	look := func(given time.Duration) Finding {
		signs++
		for _, r := range p.Rails {
			r.Sample(Sample{Waits: true, Signs: signs, Heard: signs, Carried: carried, Rate: rate, Oldest: at(given).Now})
		}
		require.Equal(t, NoFault, p.Look(a, at(now)).Fault)
		return p.Look(b, at(now))
	}
	for range 4 {
		given := now
		for range 4 {
			now += 100 * time.Millisecond
			carried += int64(rate * float64(100*time.Millisecond))
			require.Equal(t, NoFault, look(given).Fault)
		}
		now += 2 * time.Second
		carried += 64 << 10
		require.Equal(t, NoFault, look(given).Fault)
		require.Equal(t, Up, b.State)
	}
	given := now
	for f := (Finding{}); f.Fault != Creeping; f = look(given) {
		now += 100 * time.Millisecond
		require.Less(t, now-given, 2*time.Second, "it carries nothing")
		a.pace.carried -= 1 << 30 // the other one does
	}
}

// A process that is stopped while a rail is on trial has not looked at the answers.
func TestProcessIsStoppedDuringATrial(t *testing.T) {
	p := known(1, 1)
	a, b := p.Rails[0], p.Rails[1]
	p.Up(a, at(0))
	b.Loses(1)
	p.Up(b, at(0))
	require.Equal(t, Trial, b.State)
	const back = 10 * time.Second
	require.Equal(t, NoFault, p.Look(b, at(back)).Fault)
	require.True(t, p.Probed(b, at(back)))
	f, when := p.looks(b, back, 2*back, nil)
	require.Equal(t, TrialFailed, f.Fault, "the next answer does not come")
	assert.Less(t, when, back+2*time.Second, "nor does the stop count as a long way")
}

// Where a round trip takes longer than pml_rail_timeout a rail is not silent before its signs can be there.
func TestSilenceOverAFarWay(t *testing.T) {
	for name, c := range map[string]struct{ roundTrip, given time.Duration }{
		"not known":             {0, 500 * time.Millisecond},
		"near":                  {time.Millisecond, 500 * time.Millisecond},
		"far":                   {700 * time.Millisecond, 2100 * time.Millisecond},
		"as far as the moon":    {2600 * time.Millisecond, 4 * time.Second},
		"no end to be in sight": {time.Hour, 4 * time.Second},
	} {
		p := known(1, 1)
		a, b := p.Rails[0], p.Rails[1]
		p.Up(a, at(0))
		p.Up(b, at(0))
		f, when := p.looks(a, 0, time.Minute, func() Sample {
			return Sample{Waits: true, Oldest: at(0).Now, RoundTrip: c.roundTrip}
		})
		require.Equal(t, Silent, f.Fault, name)
		assert.InDelta(t, c.given, when, float64(at(0).RailTimeout)/8, name)
	}
}

// Nor does it creep because what it carries takes a round trip, while the other one has nothing to do.
func TestTrafficOverAFarWayDoesNotCreep(t *testing.T) {
	const roundTrip = 700 * time.Millisecond
	p := known(1, 1)
	a, b := p.Rails[0], p.Rails[1]
	p.Up(a, at(0))
	p.Up(b, at(0))
	heard := uint64(0)
	f, _ := p.looks(a, 0, time.Minute, func() Sample {
		heard++
		b.Sample(Sample{Heard: heard})
		p.Look(b, at(time.Duration(heard)*at(0).RailTimeout/8))
		return Sample{Waits: true, Signs: heard, Heard: heard, Oldest: at(time.Duration(heard)*at(0).RailTimeout/8 - roundTrip).Now, RoundTrip: roundTrip}
	})
	require.Equal(t, NoFault, f.Fault)
	require.Equal(t, Up, a.State)
}

// Nor does it creep because a rail that rests, as spare paths and other transports that were called in do, has nothing to do: that is so as long as
// this one carries everything, and its frames may be long.
func TestWhatRestsIsNotHeldUp(t *testing.T) {
	const rate, age = 0.005, 800 * time.Millisecond // bytes a nanosecond: a frame of 2 MB takes 400 ms
	p := known(1, 0)
	a, b := p.Rails[0], p.Rails[1]
	p.Up(a, at(0))
	p.Up(b, at(0))
	require.Equal(t, Resting, b.State)
	now, heard := time.Duration(0), uint64(0)
	f, _ := p.looks(a, 0, time.Minute, func() Sample {
		now += at(0).RailTimeout / 8
		heard++
		b.Sample(Sample{Heard: heard, Signs: heard})
		p.Look(b, at(now))
		return Sample{Waits: true, Heard: heard, Signs: heard, Carried: int64(rate * float64(now)), Rate: rate, Oldest: at(now - age).Now}
	})
	require.Equal(t, NoFault, f.Fault)
	require.Equal(t, Up, a.State)
}

// A way that comes to carry a hundredth creeps as soon as a near one does: that its round trip takes longer and longer is not the
// way's length, but what stands before it. Where little is under way that may stand in the queues of the way back.
func TestTheQueueOfWhatCreepsIsNoFarWay(t *testing.T) {
	const rate, usual = 0.005, 50 * time.Millisecond // bytes a nanosecond
	creeps := func(load int) time.Duration {
		p := known(1, 1)
		a, b := p.Rails[0], p.Rails[1]
		p.Up(a, at(0))
		p.Up(b, at(0))
		now, heard := time.Duration(0), uint64(0)
		f, when := p.looks(a, 0, time.Minute, func() Sample {
			now += at(0).RailTimeout / 8
			heard++
			b.Sample(Sample{Waits: true, Heard: heard, Signs: heard, Oldest: at(now).Now, Rate: rate, Carried: int64(rate * float64(now))})
			p.Look(b, at(now))
			return Sample{Waits: true, Heard: heard, Signs: heard, Carried: int64(rate / 100 * float64(now)), Load: load, Rate: rate, Oldest: at(0).Now, RoundTrip: usual + now}
		})
		require.Equal(t, Creeping, f.Fault)
		return when
	}
	assert.LessOrEqual(t, creeps(much), 2*at(0).RailTimeout)
	assert.Greater(t, creeps(much-1), 3*at(0).RailTimeout)
}

// Where the transport does not tell of the round trip a trial shows it: the first one fails, and once one is passed the rail is
// not given up again.
func TestTrialShowsTheRoundTrip(t *testing.T) {
	const roundTrip = 700 * time.Millisecond
	p := known(1, 1)
	a, b := p.Rails[0], p.Rails[1]
	p.Up(a, at(0))
	p.Up(b, at(0))
	now := time.Duration(0)
	p.Down(b, syscall.ETIMEDOUT, at(now))
	p.Up(b, at(now))
	f, now := p.looks(b, now, time.Minute, nil)
	require.Equal(t, TrialFailed, f.Fault)
	p.Down(b, syscall.ETIMEDOUT, at(now))
	p.Up(b, at(now))
	for more := true; more; more = p.Probed(b, at(now)) {
		f, _ = p.looks(b, now, now+roundTrip, nil)
		require.Equal(t, NoFault, f.Fault)
		now += roundTrip
	}
	require.Equal(t, Up, b.State)
	given := now
	f, when := p.looks(b, now, now+time.Minute, func() Sample { return Sample{Waits: true, Oldest: at(given).Now} })
	require.Equal(t, Silent, f.Fault)
	assert.GreaterOrEqual(t, when-given, 3*roundTrip)
}

// Each probe of a trial has its time: over a far way three of them take longer than pml_rail_timeout.
func TestATrialOverAFarWay(t *testing.T) {
	p := known(1, 1)
	a, b := p.Rails[0], p.Rails[1]
	p.Up(a, at(0))
	p.Up(b, at(0))
	p.Down(b, syscall.ECONNRESET, at(0))
	p.Up(b, at(0))
	require.Equal(t, Trial, b.State)
	now := time.Duration(0)
	for range 2 {
		f, _ := p.looks(b, now, now+400*time.Millisecond, nil)
		require.Equal(t, NoFault, f.Fault)
		now += 400 * time.Millisecond
		require.True(t, p.Probed(b, at(now)))
	}
	f, _ := p.looks(b, now, 10*time.Second, nil)
	require.Equal(t, TrialFailed, f.Fault)
}

// Addresses that refuse prove something only if all of them refuse at one time.
func TestRefusalsInTurnProveNothing(t *testing.T) {
	for _, met := range []bool{false, true} {
		p := known(1, 1)
		p.Met = met
		a, b := p.Rails[0], p.Rails[1]
		p.next(t, at(0), a)
		p.Down(a, syscall.ECONNREFUSED, at(0))
		if met {
			p.open(b, at(0))
		} else {
			p.next(t, at(0), b)
		}
		p.Down(b, syscall.ECONNREFUSED, at(5*time.Second))
		p.next(t, at(5*time.Second), a)
		assert.Equal(t, NoReason, p.Evidence(at(5*time.Second)).Verdict())
	}
}

// Where no launcher tells, a peer has gone when it has refused everywhere for two seconds,
// and not later.
func TestDepartureIsFoundInTime(t *testing.T) {
	p := known(1, 1)
	now := at(0)
	for _, r := range p.Rails {
		p.Up(r, now)
	}
	for _, r := range p.Rails {
		p.Down(r, syscall.ECONNRESET, now)
	}
	for {
		s := p.Next(now)
		if s.Do == Fail {
			require.Equal(t, Departure, s.Reason)
			break
		}
		if s.Do == Connect {
			p.Down(s.Rail, syscall.ECONNREFUSED, now)
			continue
		}
		require.Equal(t, Wait, s.Do)
		require.Greater(t, s.At, now.Now)
		now.Now = s.At
	}
	assert.InDelta(t, Absence.Seconds(), float64(now.Now-at(0).Now)/1e9, 0.3)
}

// A process that leaves tries the spare paths before it takes one address's refusals for the
// peer's departure: another address says nothing.
func TestSparePathsForTheGoodbye(t *testing.T) {
	p := known(201, 201)
	refusing := p.Rails[0]
	p.Standby = []*Rail{{Tier: 200, Spare: btl.Detour}}
	now := at(0)
	for _, r := range p.Rails {
		p.Up(r, now)
	}
	now.Leaving, now.Parting = true, true
	for _, r := range p.Rails {
		p.Down(r, syscall.ECONNRESET, now)
	}
	for {
		s := p.Next(now)
		switch s.Do {
		case Activate:
			return
		case Connect:
			if s.Rail == refusing {
				p.Down(refusing, syscall.ECONNREFUSED, now)
			}
			continue
		}
		require.Equal(t, Wait, s.Do, "the spare path was not tried")
		require.Greater(t, s.At, now.Now)
		now.Now = s.At
	}
}

// Spare paths are tried where a peer refuses for as long as one does that has left, and the launcher does not tell that it has: a firewall
// may do so that rejects.
func TestSparePathsBehindAFirewall(t *testing.T) {
	p := known(201)
	r, spare := p.Rails[0], &Rail{Tier: 200, Spare: btl.Detour}
	p.Standby = []*Rail{spare}
	now := at(0)
	now.Appeals = true
	p.Up(r, now)
	p.Down(r, syscall.ECONNRESET, now)
	for {
		s := p.Next(now)
		switch s.Do {
		case Activate:
			require.Equal(t, []*Rail{spare}, s.Rails)
			require.InDelta(t, Absence.Seconds(), float64(now.Now-at(0).Now)/1e9, 1)
			return
		case Connect:
			p.Down(r, syscall.ECONNREFUSED, now)
		case Wait:
			require.Greater(t, s.At, now.Now)
			require.Less(t, s.At, at(10*Absence).Now, "the spare path was not tried")
			now.Now = s.At
		case Appeal:
		default:
			require.Failf(t, "what is done", "%+v", s)
		}
	}
}

// A connection that only the peer can make breaks while this process leaves, and no beat looks
// after the peer any more: the peer is called.
func TestPeerIsCalledWhenItsConnectionBreaks(t *testing.T) {
	p := known(1)
	r := p.Rails[0]
	r.Foreign = true
	env := func(d time.Duration) Env {
		e := at(d)
		e.Appeals, e.Leaving = true, true
		return e
	}
	p.Up(r, env(0))
	p.Down(r, syscall.ECONNRESET, env(time.Second))
	assert.Equal(t, Appeal, p.Next(env(time.Second+FirstContact)).Do)
}

// What stands by is called in when connections come and go and carry nothing, though another rail
// has an attempt under way that will take seconds to fail: it has failed before.
func TestAttemptsUnderWayDoNotHoldUpStandby(t *testing.T) {
	p := known(1, 1)
	standby := &Rail{}
	p.Standby = []*Rail{standby}
	hollow, slow := p.Rails[0], p.Rails[1]
	for range quickReconnects {
		p.open(hollow, at(0))
		p.Up(hollow, at(0))
		p.Down(hollow, syscall.ECONNRESET, at(0))
	}
	p.Up(hollow, at(0))
	p.open(slow, at(0))
	require.Equal(t, Wait, p.Next(at(time.Second)).Do, "the first attempt is not over")
	p.Down(slow, syscall.ETIMEDOUT, at(2*time.Second))
	p.open(slow, at(3*time.Second))
	s := p.Next(at(3 * time.Second))
	require.Equal(t, Activate, s.Do)
	require.Equal(t, []*Rail{standby}, s.Rails)
}

// At first contact a rail that has failed at once is tried again beside others where nobody answers.
func TestFirstContactBesideSilentNetworks(t *testing.T) {
	p := known(1, 1, 1)
	a, b, c := p.Rails[0], p.Rails[1], p.Rails[2]
	p.next(t, at(0), a)
	p.next(t, at(NextRail), b)
	p.Down(b, syscall.ECONNREFUSED, at(NextRail+time.Millisecond))
	p.next(t, at(2*NextRail), c)
	p.next(t, at(3*NextRail), b)
	p.Down(b, syscall.ECONNREFUSED, at(3*NextRail+time.Millisecond))
	const limit = 30 * time.Second
	p.Down(a, syscall.ETIMEDOUT, at(limit))
	p.next(t, at(limit), b)
	p.Down(b, syscall.ECONNREFUSED, at(limit))
	p.Down(c, syscall.ETIMEDOUT, at(limit+2*NextRail))
	require.Equal(t, Step{Do: Fail, Reason: Unreachable}, p.Next(at(limit+2*NextRail)))
}

// Nor does it matter that those had failed before nobody answered.
func TestFirstContactBesideNetworksThatHaveGoneSilent(t *testing.T) {
	p := known(1, 1)
	a, b := p.Rails[0], p.Rails[1]
	p.next(t, at(0), a)
	p.next(t, at(NextRail), b)
	p.Down(a, syscall.EHOSTUNREACH, at(time.Second))
	p.Down(b, syscall.ECONNREFUSED, at(time.Second+1))
	p.next(t, at(2*time.Second), a)
	waits := p.Next(at(2*time.Second + NextRail))
	require.Equal(t, Step{At: at(4*time.Second).Now + 1}, waits)
	p.next(t, Env{Now: waits.At}, b)
}

// Nor that its transport could make no connection of it to begin with: that took no time.
func TestFirstContactOverARailThatWasNotBegun(t *testing.T) {
	p := known(1, 1)
	a, b := p.Rails[0], p.Rails[1]
	p.Down(b, syscall.EMFILE, at(0))
	p.next(t, at(0), a)
	p.next(t, at(NextRail), b)
}

// A peer is given up when all its rails have failed, each of which takes its time to do so and begins at another one: they do
// not keep each other going, though one of them is tried again while another takes far longer.
func TestFirstContactOverRailsThatFailSlowly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := known(make([]int, rapid.IntRange(1, 4).Draw(t, "rails"))...)
		takes, ends := make(map[*Rail]int64), make(map[*Rail]int64)
		var longest int64
		for _, r := range p.Rails {
			takes[r] = int64(rapid.IntRange(0, 30_000).Draw(t, "takes")) * int64(time.Millisecond)
			longest = max(longest, takes[r])
		}
		now := at(0)
		limit := now.Now + 3*longest + int64(2*time.Second)
		for s := p.Next(now); s.Do != Fail; s = p.Next(now) {
			if s.Do == Connect {
				ends[s.Rail] = now.Now + takes[s.Rail]*int64(rapid.IntRange(90, 100).Draw(t, "percent"))/100
				continue
			}
			require.Equal(t, Wait, s.Do)
			for _, end := range ends {
				s.by(end)
			}
			require.NotZero(t, s.At, "nothing is awaited")
			now.Now = max(now.Now, s.At)
			require.Less(t, now.Now, limit, "the peer is not given up")
			for r, end := range ends {
				if end <= now.Now {
					p.Down(r, syscall.EHOSTUNREACH, now)
					delete(ends, r)
				}
			}
		}
		require.Equal(t, Unreachable, p.Next(now).Reason)
	})
}

// The launcher says that the peer has failed, and its connection takes no more: the transport is about to read what came before.
func TestWhatADoomedPeerHasSentIsReadBeforeItsConnectionEnds(t *testing.T) {
	p := known(1)
	r, doomed := p.Rails[0], Step{Do: Fail, Reason: LaunchersWord}
	p.Up(r, at(0))
	p.Broken(r, at(0))
	p.Doom(at(0))
	now := at(LastWords - 1)
	s := p.Next(now)
	require.NotEqual(t, Fail, s.Do)
	require.Equal(t, doomed, p.Next(at(LastWords)), "it does not wait for longer than for a connection that stays")
	p.Down(r, io.EOF, now)
	require.Equal(t, doomed, p.Next(now))
}

// A process that is stopped after the launcher's word has not read what the peer had sent. It has the time for that when it goes on,
// once.
func TestProcessIsStoppedBeforeItHasReadWhatADoomedPeerSent(t *testing.T) {
	const back = 10 * time.Second
	for _, stops := range []bool{false, true} {
		p := known(1)
		p.Up(p.Rails[0], at(0))
		p.Doom(at(0))
		require.Equal(t, Step{At: at(LastWords).Now}, p.Next(at(0)))
		now := LastWords
		if stops {
			require.Equal(t, Step{At: at(back + LastWords).Now}, p.Next(at(back)))
			require.Equal(t, Step{At: at(back + LastWords).Now}, p.Next(at(back+1)))
			now = 2 * back
		}
		assert.Equal(t, Step{Do: Fail, Reason: LaunchersWord}, p.Next(at(now)))
	}
}

// Rails that fail at once, again and again, do not keep another one waiting.
func TestBrokenRailsAreTriedInTurn(t *testing.T) {
	p := known(1, 1, 1)
	for _, r := range p.Rails {
		p.open(r, at(0))
		p.Up(r, at(0))
		p.Down(r, syscall.ECONNRESET, at(0))
	}
	tried := make(map[*Rail]bool)
	for now := time.Duration(0); now <= 4*NextRail; now += NextRail {
		if s := p.Next(at(now)); s.Do == Connect {
			tried[s.Rail] = true
			p.Down(s.Rail, syscall.ECONNREFUSED, at(now+time.Millisecond))
		}
	}
	require.Len(t, tried, 3)
}

// Where many ranks share a processor a rail has more time before the next one is tried, and a peer before it is
// asked to connect.
func TestCrowdsHaveMoreTime(t *testing.T) {
	crowded := func(d time.Duration) Env {
		e := at(d)
		e.Slow, e.Appeals = 5, true
		return e
	}
	p := known(1, 1)
	p.Want(crowded(0))
	p.next(t, crowded(0), p.Rails[0])
	require.Equal(t, Step{At: crowded(5 * NextRail).Now}, p.Next(crowded(5*NextRail-1)))
	p.next(t, crowded(5*NextRail), p.Rails[1])
	require.Equal(t, Wait, p.Next(crowded(5*FirstContact-1)).Do)
	require.Equal(t, Appeal, p.Next(crowded(5*FirstContact)).Do)
}

// This process may be stopped while it waits for a peer that it has called. Who has connected meanwhile is let in before the
// time for that counts as over.
func TestCalledPeerIsAwaitedAfterAStop(t *testing.T) {
	env := func(d time.Duration) Env {
		e := at(d)
		e.Appeals = true
		return e
	}
	called := func() (p *Peer) {
		p = known(1)
		p.Want(env(0))
		p.next(t, env(0), p.Rails[0])
		p.Down(p.Rails[0], syscall.ETIMEDOUT, env(time.Millisecond))
		require.Equal(t, Appeal, p.Next(env(time.Millisecond)).Do)
		require.Equal(t, Appeal, p.Next(env(FirstContact)).Do)
		require.Equal(t, Step{At: env(AppealTime + time.Millisecond).Now}, p.Next(env(FirstContact)))
		return p
	}
	assert.Equal(t, Fail, called().Next(env(AppealTime+time.Millisecond)).Do, "in time")
	p := called()
	const awake = 40 * time.Second
	require.Equal(t, Step{At: env(awake + afterStop).Now}, p.Next(env(awake)))
	require.Equal(t, Wait, p.Next(env(awake+afterStop-1)).Do)
	assert.Equal(t, Fail, p.Next(env(awake+afterStop)).Do, "nobody has come")
	p = called()
	require.Equal(t, Wait, p.Next(env(awake)).Do)
	p.Up(p.Rails[0], env(awake+1))
	assert.Equal(t, Wait, p.Next(env(awake+afterStop)).Do)
}
