package tcp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/strandmp/strand/btl"
)

// state of an endpoint. It only ever grows.
type state uint8

const (
	stateClosed     state = iota // not sent to yet
	stateConnecting              // the connection is being made
	stateConnectAck              // the handshake is under way
	stateConnected
	stateFailed // its end, in order or not
)

func (s state) String() string {
	return [...]string{"CLOSED", "CONNECTING", "CONNECT_ACK", "CONNECTED", "FAILED"}[s]
}

// State implements [btl.Stater].
func (ep *endpoint) State() string { return ep.state.String() }

// enter makes a transition and tells of it, in a line that begins with both
// ranks, the state and the addresses, and names the epoch:
//
//	tcp: rank 0 → rank 3: connecting 10.8.47.1 (eth0) → 10.8.47.2:59822 (weight 100, direct route), epoch 1, attempt 1 of 3
//	tcp: rank 3 ← rank 0: connected 10.8.47.2:59822 (eth0) ← 10.8.47.1:41234, epoch 1
//
// The arrow is that of the connection. The way is its addresses; more says what
// is special about this transition.
func (ep *endpoint) enter(s state, level btl.LogLevel, way string, epoch uint32, more string) {
	ep.state = s
	ep.tell(level, strings.ToLower(s.String()), way, epoch, more)
}

func (ep *endpoint) tell(level btl.LogLevel, what, way string, epoch uint32, more string) {
	ep.m.tell(level, ep.slot.key, ep.arrow(), what, way, epoch, more)
}

// tell writes a line about a connection, or an attempt at one.
func (m *module) tell(level btl.LogLevel, key slotKey, arrow, what, way string, epoch uint32, more string) {
	path := ""
	if key.path > 0 {
		path = fmt.Sprintf(" path %d", key.path)
	}
	m.host.Logf(level, "tcp: rank %d %s rank %d%s: %s %s, epoch %d%s",
		m.host.Rank(), arrow, key.rank, path, what, way, epoch, more)
}

// arrow points the way in which the connection is, or is being, made.
func (ep *endpoint) arrow() string {
	if ep.opened || ep.dial != nil || ep.local == "" {
		return "→"
	}
	return "←"
}

// tellEnd tells how the endpoint has come to its end. The epoch is that of the
// connection, or of the last attempt at one.
func (ep *endpoint) tellEnd(err error) {
	epoch := ep.epoch
	if ep.state != stateConnected {
		epoch = ep.slot.epoch
	}
	conn, ok := errors.AsType[*btl.ConnError](err)
	switch {
	case errors.Is(err, btl.ErrPeerClosed):
		ep.tell(btl.LogInfo, "closed", ep.Desc(), epoch, ", by the peer, in order")
	case ok:
		ep.tell(btl.LogInfo, "failed", ep.Desc(), epoch, ", "+conn.What())
	default:
		ep.tell(btl.LogInfo, "failed", ep.Desc(), epoch, ", "+err.Error())
	}
}

// tellClosed tells that this side ends the endpoint, unless it has ended already.
func (ep *endpoint) tellClosed() {
	switch ep.state {
	case stateConnected:
		ep.tell(btl.LogInfo, "closed", ep.Desc(), ep.epoch, ", by this side")
	case stateConnecting, stateConnectAck:
		ep.tell(btl.LogInfo, "closed", ep.Desc(), ep.slot.epoch, ", by this side, while "+strings.ToLower(ep.state.String()))
	}
}
