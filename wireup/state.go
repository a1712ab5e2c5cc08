package wireup

import (
	"errors"
	"fmt"
	"strings"

	"github.com/strandmp/strand/btl"
)

// State is that of an endpoint. It grows, with two exceptions: [Conn.Rest] goes back to Closed,
// and each further attempt goes back to Connecting.
type State uint8

const (
	Closed     State = iota // not sent to yet, or at rest
	Connecting              // an attempt is under way, or the pause after one that was not answered
	ConnectAck              // the handshake is under way, or the pause after one that has failed
	Connected
	Failed // the endpoint has ended, in order or not
)

// String returns the name that LA-MPI has for it: "CONNECT_ACK".
func (s State) String() string {
	return [...]string{"CLOSED", "CONNECTING", "CONNECT_ACK", "CONNECTED", "FAILED"}[s]
}

// enter makes a transition and tells of it, in a line that begins with both ranks, the
// state and the addresses, and names the epoch:
//
//	tcp: rank 0 → rank 3: connecting 10.8.47.1 (eth0) → 10.8.47.2:59822 (weight 100, direct route), epoch 1, attempt 1 of 3
//	tcp: rank 3 ← rank 0: connected 10.8.47.2:59822 (eth0) ← 10.8.47.1:41234, epoch 1
//
// The arrow is that of the connection. The way is its addresses; more says what is special
// about this transition.
func (c *Conn) enter(s State, level btl.LogLevel, way string, epoch uint32, more string) {
	c.state = s
	c.tell(level, strings.ToLower(s.String()), way, epoch, more)
}

func (c *Conn) tell(level btl.LogLevel, what, way string, epoch uint32, more string) {
	c.m.tell(level, c.slot.key, c.arrow(), what, way, epoch, more)
}

// tell writes a line about a connection, or an attempt at one.
func (m *Manager) tell(level btl.LogLevel, key slotKey, arrow, what, way string, epoch uint32, more string) {
	path := ""
	if key.path > 0 {
		path = fmt.Sprintf(" path %d", key.path)
	}
	m.host.Logf(level, "%s: rank %d %s rank %d%s: %s %s, epoch %d%s",
		m.Name, m.host.Rank(), arrow, key.rank, path, what, way, epoch, more)
}

// Tell writes a line about the connection: "closed", what there is to say of it behind.
func (c *Conn) Tell(level btl.LogLevel, what, more string) {
	c.tell(level, what, c.Desc(), c.epoch, ", "+more)
}

// arrow points the way in which the connection is, or is being, made.
func (c *Conn) arrow() string {
	if c.opened || c.dial != nil || !c.prepared {
		return "→"
	}
	return "←"
}

// tellEnd tells how the endpoint has come to its end. The epoch is that of the connection,
// or of the last attempt at one.
func (c *Conn) tellEnd(err error) {
	epoch := c.epoch
	if c.state != Connected {
		epoch = c.slot.epoch
	}
	failure, ok := errors.AsType[*btl.ConnError](err)
	switch {
	case errors.Is(err, btl.ErrPeerClosed):
		c.tell(btl.LogInfo, "closed", c.Desc(), epoch, ", by the peer, in order")
	case ok:
		c.tell(btl.LogInfo, "failed", c.Desc(), epoch, ", "+failure.What())
	default:
		c.tell(btl.LogInfo, "failed", c.Desc(), epoch, ", "+err.Error())
	}
}

// tellClosed tells that this side ends the endpoint, unless it has ended already.
func (c *Conn) tellClosed(how End) {
	switch c.state {
	case Connected:
		if how == Aborts {
			c.Tell(btl.LogInfo, "failed", "given up by this side")
			return
		}
		c.Tell(btl.LogInfo, "closed", "by this side")
	case Connecting, ConnectAck:
		c.tell(btl.LogInfo, "closed", c.Desc(), c.slot.epoch, ", by this side, while "+strings.ToLower(c.state.String()))
	}
}
