package rails

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// A rail aside is opened only beside a connection, and comes and goes without a trace in what is
// known of the peer and its ways.
func TestRailAside(t *testing.T) {
	var p Peer
	e := Env{Now: int64(time.Hour), RailTimeout: time.Second, PeerTimeout: time.Minute}
	first, aside := new(Rail), &Rail{Aside: true}
	p.Attach([]*Rail{first})
	open := func() (anew, ok bool) { return p.OpenAside(aside, e) }

	_, ok := open()
	require.False(t, ok, "no way leads to the peer")
	p.Up(first, e)
	anew, ok := open()
	require.True(t, ok)
	require.False(t, anew)
	_, ok = open()
	require.False(t, ok, "it is connecting")

	before := p
	pause := firstPause
	for range 12 {
		p.Down(aside, errors.New("no answer"), e)
		require.Equal(t, Down, aside.State)
		_, ok = open()
		require.False(t, ok, "its pause is not over")
		e.Now += int64(pause)
		anew, ok = open()
		require.True(t, anew && ok)
		pause = min(2*pause, lastAsidePause)
	}
	p.Up(aside, e)
	require.Equal(t, Up, aside.State, "without a trial")
	p.Broken(aside, e)
	require.Equal(t, Breaking, aside.State)
	e.Moved++
	p.Down(aside, errors.New("cut"), e)
	e.Now += int64(firstPause)
	_, ok = open()
	require.True(t, ok, "something got through: the pause is the first again")
	p.Down(aside, &btl.ConnError{Err: btl.ErrUnwelcome, Final: true}, e)
	e.Now += int64(lastAsidePause)
	_, ok = open()
	require.True(t, ok, "it may be welcome now")
	assert.Equal(t, before, p, "of the peer nothing has changed")

	p.Up(aside, e)
	p.Down(first, errors.New("cut"), e)
	require.False(t, p.Connected(), "it is no way to the peer")
	assert.Equal(t, Connect, p.Next(e).Do)
	p.Shut(aside)
	require.Equal(t, Gone, aside.State)
}

// A rail aside that is silent while a way to the peer is connected is doubted, then given up.
func TestRailAsideThatIsSilent(t *testing.T) {
	var p Peer
	e := Env{Now: int64(time.Hour), RailTimeout: time.Second, PeerTimeout: time.Minute}
	first, aside := new(Rail), &Rail{Aside: true}
	p.Attach([]*Rail{first})
	p.Up(first, e)
	p.OpenAside(aside, e)
	p.Up(aside, e)
	since := e.Now
	look := func(after time.Duration) Finding {
		e.Now = since + int64(after)
		aside.Sample(Sample{Waits: true, Oldest: since})
		return p.Look(aside, e)
	}
	require.Equal(t, NoFault, look(100*time.Millisecond).Fault)
	require.Equal(t, Up, aside.State)
	require.Equal(t, NoFault, look(600*time.Millisecond).Fault)
	require.Equal(t, Doubted, aside.State)
	require.Equal(t, Silent, look(time.Second).Fault)
}
