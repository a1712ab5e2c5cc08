package sctp

import (
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// stuck makes an association of which nothing leaves any more, in a state.
func stuck(t testing.TB, s State) (w *world, u *user) {
	w = newWorld(t, 1, 1, quiet())
	a, b := w.join(0, 1, nil), w.join(1, 1, nil)
	silent := func(datagram) bool { return false }
	switch s {
	case CookieWait:
		w.tap = silent
	case CookieEchoed:
		w.tap = func(d datagram) bool { return types(d.bytes)[0] != chunk.TypeCookieEcho }
	}
	u = a.call(b)
	w.run(100*time.Millisecond, nil)
	w.tap = silent
	switch s {
	case ShutdownPending, ShutdownReceived:
		u.say(1, 100)
	}
	switch s {
	case ShutdownPending, ShutdownSent:
		u.a.Shutdown(w.at())
		a.flush(u.a)
	case ShutdownReceived, ShutdownAckSent:
		u.inject(0, chunk.AppendNumber(nil, chunk.TypeShutdown, u.a.tsn-1))
	}
	require.Equal(t, s, u.a.state)
	return w, u
}

// inject has a packet come from the peer, with the right tag but for an INIT. It returns what leaves then.
func (u *user) inject(tagFlip uint32, chunks []byte) (answers []chunk.Type) {
	tag := u.a.tag
	if chunk.Type(chunks[0]) == chunk.TypeInit {
		tag = 0
	}
	return u.injectFrom(u.a.paths[0].Remote.Port(), tag^tagFlip, chunks)
}

func (u *user) injectFrom(port uint16, tag uint32, chunks []byte) (answers []chunk.Type) {
	w := u.n.w
	p := u.a.paths[0]
	from := p.Remote
	before := w.tap
	w.tap = func(d datagram) bool {
		answers = append(answers, types(d.bytes)...)
		return before(d)
	}
	defer func() { w.tap = before }()
	b := chunk.AppendHeader(nil, chunk.Header{Source: sctpPort, Destination: sctpPort, Tag: tag})
	b = append(b, chunks...)
	chunk.Seal(b)
	d := datagram{to: netipPort(p, u), from: from, bytes: b}
	d.from = portOf(from, port)
	w.deliver(d)
	return answers
}

func initChunk(t chunk.Type, tag uint32, more ...[]byte) []byte {
	b, start := chunk.BeginInit(nil, t, chunk.Init{Tag: tag, Window: 1 << 16, Out: 3, In: 4, TSN: 5000})
	for _, m := range more {
		b = append(b, m...)
	}
	return chunk.End(b, start)
}

func cause(t chunk.Type, code uint16, info []byte) []byte {
	b, start := chunk.Begin(nil, t, 0)
	return chunk.End(chunk.AppendField(b, code, info), start)
}

// RFC 9260, section 4: in which state what chunk does what. "-" is nothing at all.
func TestStates(t *testing.T) {
	const all = "COOKIE-WAIT COOKIE-ECHOED ESTABLISHED SHUTDOWN-PENDING SHUTDOWN-SENT SHUTDOWN-RECEIVED SHUTDOWN-ACK-SENT"
	chunks := map[string]func(u *user) []byte{
		"INIT": func(*user) []byte { return initChunk(chunk.TypeInit, 77) },
		"INIT new address": func(*user) []byte {
			return initChunk(chunk.TypeInit, 77, chunk.AppendAddress(nil, address(3, 3)))
		},
		"INIT ACK": func(*user) []byte {
			return initChunk(chunk.TypeInitAck, 77, chunk.AppendField(nil, chunk.ParamCookie, []byte("cook")))
		},
		"INIT ACK without a cookie": func(*user) []byte { return initChunk(chunk.TypeInitAck, 77) },
		"COOKIE ECHO forged":        func(*user) []byte { return chunk.Append(nil, chunk.TypeCookieEcho, 0, make([]byte, 100)) },
		"COOKIE ACK":                func(*user) []byte { return chunk.Append(nil, chunk.TypeCookieAck, 0, nil) },
		"DATA": func(u *user) []byte {
			d := chunk.Data{TSN: u.a.peerTSN, Stream: 1, Flags: chunk.FlagBegin | chunk.FlagEnd | chunk.FlagImmediate, PPID: 7}
			return chunk.AppendData(nil, &d, content(1, 0, 16), nil)
		},
		"I-DATA": func(u *user) []byte {
			return chunk.AppendData(nil, &chunk.Data{Interleaved: true, TSN: u.a.peerTSN}, []byte{1}, nil)
		},
		"DATA empty": func(u *user) []byte { return chunk.AppendData(nil, &chunk.Data{TSN: u.a.peerTSN}, nil, nil) },
		"DATA no stream": func(u *user) []byte {
			return chunk.AppendData(nil, &chunk.Data{TSN: u.a.peerTSN, Stream: 999, Flags: 3}, []byte{1}, nil)
		},
		"SACK":               func(u *user) []byte { return chunk.AppendSACK(nil, u.a.tsn-1, 1<<16, nil, nil) },
		"SACK never sent":    func(u *user) []byte { return chunk.AppendSACK(nil, u.a.tsn+99, 1<<16, nil, nil) },
		"SACK short":         func(*user) []byte { return chunk.Append(nil, chunk.TypeSACK, 0, make([]byte, 4)) },
		"HEARTBEAT":          func(*user) []byte { return cause(chunk.TypeHeartbeat, chunk.ParamHeartbeat, []byte("nonsense")) },
		"HEARTBEAT ACK":      func(*user) []byte { return cause(chunk.TypeHeartbeatAck, chunk.ParamHeartbeat, make([]byte, 8)) },
		"ABORT":              func(*user) []byte { return cause(chunk.TypeAbort, chunk.CauseUser, []byte("no")) },
		"ERROR":              func(*user) []byte { return cause(chunk.TypeError, chunk.CauseUnrecognizedChunk, []byte("none")) },
		"ERROR stale cookie": func(*user) []byte { return cause(chunk.TypeError, chunk.CauseStaleCookie, make([]byte, 4)) },
		"SHUTDOWN":           func(u *user) []byte { return chunk.AppendNumber(nil, chunk.TypeShutdown, u.a.tsn-1) },
		"SHUTDOWN never sent": func(u *user) []byte {
			return chunk.AppendNumber(nil, chunk.TypeShutdown, u.a.tsn+99)
		},
		"SHUTDOWN ACK":      func(*user) []byte { return chunk.Append(nil, chunk.TypeShutdownAck, 0, nil) },
		"SHUTDOWN COMPLETE": func(*user) []byte { return chunk.Append(nil, chunk.TypeShutdownComplete, 0, nil) },
		"unknown 00":        func(*user) []byte { return chunk.Append(nil, 0x3f, 0, nil) },
		"unknown 01":        func(*user) []byte { return chunk.Append(nil, 0x7f, 0, nil) },
		"unknown 10":        func(*user) []byte { return chunk.Append(nil, 0xbf, 0, nil) },
		"unknown 11":        func(*user) []byte { return chunk.Append(nil, 0xff, 0, nil) },
		"FORWARD-TSN":       func(u *user) []byte { return chunk.AppendForward(nil, chunk.TypeForward, u.a.peerTSN+5, nil) },
	}
	// What happens in all states, and what happens in some.
	rules := map[string]map[string]string{
		"INIT":                      {all: "same: INIT ACK", "SHUTDOWN-ACK-SENT": "same: SHUTDOWN ACK"},
		"INIT new address":          {all: "same: ABORT", "COOKIE-WAIT": "same: INIT ACK", "SHUTDOWN-ACK-SENT": "same: SHUTDOWN ACK"},
		"INIT ACK":                  {"COOKIE-WAIT": "COOKIE-ECHOED: COOKIE ECHO"},
		"INIT ACK without a cookie": {"COOKIE-WAIT": "CLOSED: ABORT"},
		"COOKIE ECHO forged":        {},
		"COOKIE ACK":                {"COOKIE-ECHOED": "ESTABLISHED: HEARTBEAT PAD"},
		"DATA":                      {"ESTABLISHED SHUTDOWN-PENDING": "same: SACK", "SHUTDOWN-SENT": "same: SHUTDOWN SACK"},
		"I-DATA":                    {"ESTABLISHED SHUTDOWN-PENDING SHUTDOWN-SENT": "CLOSED: ABORT"},
		"DATA empty":                {"ESTABLISHED SHUTDOWN-PENDING SHUTDOWN-SENT": "CLOSED: ABORT"},
		"DATA no stream":            {"ESTABLISHED SHUTDOWN-PENDING": "same: ERROR SACK", "SHUTDOWN-SENT": "same: SHUTDOWN ERROR SACK"},
		"SACK":                      {},
		"SACK never sent":           {"ESTABLISHED SHUTDOWN-PENDING SHUTDOWN-SENT SHUTDOWN-RECEIVED": "CLOSED: ABORT"},
		"SACK short":                {"ESTABLISHED SHUTDOWN-PENDING SHUTDOWN-SENT SHUTDOWN-RECEIVED": "CLOSED: ABORT"},
		"HEARTBEAT":                 {"ESTABLISHED SHUTDOWN-PENDING SHUTDOWN-SENT SHUTDOWN-RECEIVED SHUTDOWN-ACK-SENT": "same: HEARTBEAT ACK"},
		"HEARTBEAT ACK":             {},
		"ABORT":                     {all: "CLOSED:"},
		"ERROR":                     {},
		"ERROR stale cookie":        {"COOKIE-ECHOED": "COOKIE-WAIT: INIT"},
		"SHUTDOWN": {"ESTABLISHED SHUTDOWN-SENT": "SHUTDOWN-ACK-SENT: SHUTDOWN ACK", "SHUTDOWN-PENDING": "SHUTDOWN-RECEIVED:",
			"SHUTDOWN-ACK-SENT": "same: SHUTDOWN ACK"},
		"SHUTDOWN never sent": {"ESTABLISHED SHUTDOWN-PENDING SHUTDOWN-SENT SHUTDOWN-RECEIVED SHUTDOWN-ACK-SENT": "CLOSED: ABORT"},
		"SHUTDOWN ACK":        {"SHUTDOWN-SENT SHUTDOWN-ACK-SENT": "CLOSED: SHUTDOWN COMPLETE"},
		"SHUTDOWN COMPLETE":   {"SHUTDOWN-ACK-SENT": "CLOSED:"},
		"unknown 00":          {},
		"unknown 01":          {"ESTABLISHED SHUTDOWN-PENDING SHUTDOWN-SENT SHUTDOWN-RECEIVED SHUTDOWN-ACK-SENT": "same: ERROR"},
		"unknown 10":          {},
		"unknown 11":          {"ESTABLISHED SHUTDOWN-PENDING SHUTDOWN-SENT SHUTDOWN-RECEIVED SHUTDOWN-ACK-SENT": "same: ERROR"},
		"FORWARD-TSN":         {"ESTABLISHED SHUTDOWN-PENDING SHUTDOWN-SENT SHUTDOWN-RECEIVED SHUTDOWN-ACK-SENT": "same: ERROR"},
	}
	require.Equal(t, len(chunks), len(rules))
	for name, packed := range chunks {
		for s := CookieWait; s <= ShutdownAckSent; s++ {
			want := "-"
			for states, what := range rules[name] {
				if states == s.String() || want == "-" && containsWord(states, s.String()) {
					want = what
				}
			}
			want = strings.Replace(want, "same", s.String(), 1)
			if want == "-" {
				want = s.String() + ":"
			}
			_, u := stuck(t, s)
			answers := u.inject(0, packed(u))
			got := u.a.state.String() + ":"
			for _, a := range answers {
				got += " " + a.String()
			}
			assert.Equal(t, want, got, "%s in %v", name, s)
			if u.a.state == Closed {
				assert.Error(t, u.down, "%s in %v", name, s)
			}

			// With a tag that is wrong none of it does anything.
			if name == "INIT" || name == "INIT new address" {
				continue
			}
			_, u = stuck(t, s)
			answers = u.inject(1<<7, packed(u))
			assert.Equal(t, s, u.a.state, "%s with a wrong tag in %v", name, s)
			if name == "SHUTDOWN ACK" && s <= CookieEchoed {
				assert.Equal(t, []chunk.Type{chunk.TypeShutdownComplete}, answers)
				continue
			}
			assert.Empty(t, answers, "%s with a wrong tag in %v", name, s)
		}
	}
}

func containsWord(words, word string) bool {
	for _, w := range strings.Fields(words) {
		if w == word {
			return true
		}
	}
	return false
}

// What comes out of the blue is answered as RFC 9260, section 8.4, says.
func TestOutOfTheBlue(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	n := w.join(0, 1, nil)
	for name, want := range map[chunk.Type]chunk.Type{
		chunk.TypeData: chunk.TypeAbort, chunk.TypeSACK: chunk.TypeAbort, chunk.TypeHeartbeat: chunk.TypeAbort,
		chunk.TypeShutdown: chunk.TypeAbort, chunk.TypeShutdownAck: chunk.TypeShutdownComplete,
		chunk.TypeAbort: none, chunk.TypeError: none, chunk.TypeCookieAck: none, chunk.TypeShutdownComplete: none,
		chunk.TypeInitAck: none, chunk.TypeCookieEcho: none, chunk.TypeInit: none,
	} {
		b := chunk.AppendHeader(nil, chunk.Header{Source: 9, Destination: sctpPort, Tag: 99})
		b = chunk.Append(b, name, 0, make([]byte, 100))
		chunk.Seal(b)
		a, reply := n.Receive(1, address(0, 0), portOf(netipAt(1), 7), b, nil)
		assert.Nil(t, a)
		if want == none {
			assert.Nil(t, reply, name)
			continue
		}
		assert.Equal(t, []chunk.Type{want}, types(reply), name)
		assert.Equal(t, uint32(99), binary.BigEndian.Uint32(reply[4:]))
		assert.Equal(t, uint8(chunk.FlagTag), reply[chunk.HeaderSize+1])
		assert.LessOrEqual(t, len(reply), len(b))
	}
	assert.Zero(t, n.Len())
}

// The end of a shutdown is lost. Who has not heard of it asks again, and is answered by somebody who knows nothing of the association any more:
// it has ended in order. So it is where packets have no checksum.
func TestShutdownCompleteIsLost(t *testing.T) {
	for _, method := range []uint32{0, 1} {
		for _, beats := range []bool{false, true} {
			w, here, there := pair(t, 1, quiet(), func(c *Config) { c.ZeroChecksum = method })
			exchange(t, w, here, there)
			w.tap = func(d datagram) bool { return !slices.Contains(types(d.bytes), chunk.TypeShutdownComplete) }
			here.a.Shutdown(w.at())
			here.n.flush(here.a)
			w.run(w.now+time.Minute, func() bool { return here.down != nil })
			require.Equal(t, io.EOF, here.down)
			w.tap = func(datagram) bool { return true }
			there.a.paths[0].beat.due = beats // as of a path that is suspect
			there.n.flush(there.a)
			before := w.now
			w.run(w.now+time.Minute, func() bool { return there.down != nil })
			require.Equal(t, io.EOF, there.down)
			require.Less(t, w.now-before, time.Second)
		}
	}
}

// A SHUTDOWN comes again and again over a path that is good, while its answer would go over others that are dead, and idle: it goes back where
// that came from.
func TestShutdownIsAnsweredWhereItComesFrom(t *testing.T) {
	w, here, there := pair(t, 3, quiet(), func(c *Config) { c.RTOMin, c.RTOMax = time.Second, 2*time.Second })
	w.run(w.now+time.Second, nil)
	w.tap = func(d datagram) bool { return d.to.Addr() != address(0, 0) && d.to.Addr() != address(1, 0) }
	here.a.Shutdown(w.at())
	here.n.flush(here.a)
	before := w.now
	w.run(w.now+time.Minute, func() bool { return here.down != nil && there.down != nil })
	require.Equal(t, io.EOF, here.down)
	require.Equal(t, io.EOF, there.down)
	require.Less(t, w.now-before, 4*time.Second)
}
