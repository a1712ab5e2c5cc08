package handoff

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/framing"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/wireup"
)

// nothing is a component without parameters, and a transport that makes endpoints only.
type nothing struct {
	btl.Component
	wireup.Transport
}

func (nothing) Declare(*param.Registry)      {}
func (nothing) NewEndpoint() wireup.Endpoint { return &Endpoint{} }

type way struct{}

func (way) Addresses() (local, remote string) { return "here", "there" }
func (way) Describe() string                  { return "here → there" }

// A connected endpoint, and the peer's ends of its pipes.
type connected struct {
	*Endpoint
	Link
	way
	loop  *btltest.Loop
	group *Group
	recv  *btltest.Receiver
	hung  chan bool // calls of hangUp
	says  *io.PipeWriter
	hears *io.PipeReader
}

func (c *connected) Target() (t netip.AddrPort) { return t }

// Addresses implements [wireup.Link].
func (c *connected) Addresses() (local, remote string) { return c.way.Addresses() }

// Abort, Leave and Send implement [wireup.Link].
func (c *connected) Abort()              { c.Link.Abort() }
func (c *connected) Leave(b []byte)      { c.Link.Leave(b) }
func (c *connected) Send(b []byte) error { return c.Link.Send(b) }

// connect makes one. What it writes is given to out as well.
func connect(t *testing.T) *connected {
	host := btltest.NewHost(t, 0, 2, nothing{})
	c := &connected{loop: host.Clock, recv: host.NewReceiver(1)}
	c.group = NewGroup(c.loop)
	m := wireup.NewManager(host, nothing{}, wireup.Config{Name: "pipe"})
	ep, err := m.Connect(btl.Peer{Rank: 1}, btl.Path{Private: way{}}, c.recv)
	require.NoError(t, err)
	c.Endpoint = ep.(*Endpoint)
	c.Init(c.group, 1000)
	hears, to := io.Pipe()
	from, says := io.Pipe()
	c.hears, c.says = hears, says
	c.hung = make(chan bool, 2)
	c.Connected(func(inOrder bool) {
		c.hung <- inOrder
		_ = from.Close()
		to.CloseWithError(net.ErrClosed)
	}, nil)
	c.Write(0, to, to.Close)
	c.Read(0, func() (io.Reader, error) { return from, nil })
	t.Cleanup(func() {
		_ = c.Close()
		c.group.Close()
		require.Len(t, c.hung, 1, "a connection ends once")
	})
	c.Establish(c, nil, 1, wireup.Greeting{MaxFrame: 100})
	require.True(t, c.Live())
	return c
}

// down waits for the end.
func (c *connected) down(t *testing.T) error {
	t.Helper()
	c.loop.Until(t, "the end", func() bool { return c.recv.Downs > 0 })
	return c.recv.Err
}

// bubble runs a test in time of its own.
func bubble(t *testing.T, f func(t *testing.T, c *connected)) {
	synctest.Test(t, func(t *testing.T) { f(t, connect(t)) })
}

func say(t *testing.T, c *connected, b []byte) {
	t.Helper()
	go func() { _, _ = c.says.Write(b) }()
}

// An endpoint that can not write any more first hears what has still come: here the goodbye of a
// peer that has left.
func TestGoodbyeThatComesBehindABrokenWrite(t *testing.T) {
	bubble(t, func(t *testing.T, c *connected) {
		c.hears.CloseWithError(errors.New("nobody reads"))
		require.Equal(t, btl.Done, c.Endpoint.Send(frame("lost"), 0))
		synctest.Wait()
		c.loop.Run()
		require.Zero(t, c.recv.Downs)
		say(t, c, framing.AppendGoodbye(framing.Append(nil, frame("last"))))
		require.ErrorIs(t, c.down(t), btl.ErrPeerClosed)
		require.Equal(t, "last", c.recv.Frames[0].Payload)
	})
}

// If nothing comes the endpoint ends all the same, soon.
func TestBrokenWrite(t *testing.T) {
	bubble(t, func(t *testing.T, c *connected) {
		broken := errors.New("broken")
		c.hears.CloseWithError(broken)
		require.Equal(t, btl.Done, c.Endpoint.Send(frame("lost"), 0))
		began := time.Now()
		require.ErrorIs(t, c.down(t), broken)
		require.Equal(t, patience, time.Since(began))
	})
}

// What a stream has behind its goodbye, or instead of one, is no orderly end.
func TestEndsThatAreNone(t *testing.T) {
	for name, test := range map[string]struct {
		last []byte
		want error
	}{
		"no goodbye":   {nil, wireup.ErrNoGoodbye},
		"half a frame": {framing.Append(nil, frame("half"))[:10], wireup.ErrNoGoodbye},
		"no frame":     {[]byte(strings.Repeat("x", 20)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *connected) {
				go func() {
					_, _ = c.says.Write(test.last)
					_ = c.says.Close()
				}()
				err := c.down(t)
				require.NotErrorIs(t, err, btl.ErrPeerClosed)
				if test.want != nil {
					require.ErrorIs(t, err, test.want)
				}
			})
		})
	}
}

// Of several streams one that goes on behind its goodbye is malformed.
func TestBytesBehindAGoodbye(t *testing.T) {
	bubble(t, func(t *testing.T, c *connected) {
		c.Begin(c, nil, wireup.Greeting{MaxFrame: 100}, 2) // the second has not ended
		say(t, c, framing.AppendGoodbye(nil))
		synctest.Wait()
		c.loop.Run()
		require.Zero(t, c.recv.Downs, "one of two")
		say(t, c, []byte("x"))
		require.ErrorIs(t, c.down(t), errBehind)
	})
}

// A peer that neither reads nor ends holds up the end of a connection, and that of its module, for
// two seconds.
func TestWhoLeavesDoesNotWaitForEver(t *testing.T) {
	for name, closing := range map[string]bool{"connection": false, "module": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *connected) {
				require.Equal(t, btl.Done, c.Endpoint.Send(frame("never read"), 0))
				began := time.Now()
				require.NoError(t, c.Close())
				if closing {
					c.group.Close()
				}
				inOrder := <-c.hung
				require.False(t, inOrder, "the peer has not read all")
				c.hung <- inOrder
				require.Equal(t, lingers, time.Since(began))
			})
		})
	}
}
