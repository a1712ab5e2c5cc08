package self

import (
	"slices"

	"github.com/strandmp/strand/btl"
)

// An endpoint is both ends of the connection. Frames wait in a list through
// their own links.
type endpoint struct {
	m           *module
	recv        btl.Receiver
	first, last *btl.Frame
	count       int
	up          bool
	refused     bool // Busy was returned and Writable is due
	busy        bool // progress is under way
	failed      bool
	gone        bool
	counters    btl.Counters
}

// Send implements [btl.Endpoint].
func (ep *endpoint) Send(f *btl.Frame, _ int) btl.Result {
	if ep.gone || ep.failed {
		return btl.Broken
	}
	if ep.count >= ep.m.limit {
		ep.refused = true
		return btl.Busy
	}
	f.Next = nil
	if ep.last == nil {
		ep.first = f
	} else {
		ep.last.Next = f
	}
	ep.last = f
	ep.count++
	ep.counters.FramesSent++
	ep.counters.BytesSent += uint64(len(f.Header) + f.Size)
	ep.m.wake()
	return btl.Taken
}

// progress delivers what was waiting when it was called. What a receiver sends
// in answer waits for the next call.
func (ep *endpoint) progress() bool {
	if ep.up && ep.count == 0 || ep.busy || ep.gone || ep.failed {
		return false
	}
	ep.busy = true
	defer func() { ep.busy = false }()
	if !ep.up {
		ep.up = true
		ep.recv.Up(ep.m.host.Hello())
	}
	for n := ep.count; n > 0 && ep.live(); n-- {
		ep.deliver(ep.take())
	}
	if ep.live() && ep.refused && ep.count < ep.m.limit {
		ep.refused = false
		ep.recv.Writable()
	}
	return true
}

func (ep *endpoint) live() bool { return !ep.gone && !ep.failed }

func (ep *endpoint) take() *btl.Frame {
	f := ep.first
	if ep.first = f.Next; ep.first == nil {
		ep.last = nil
	}
	f.Next = nil
	ep.count--
	return f
}

// deliver hands one frame to the receiver and gives it back to the sender.
func (ep *endpoint) deliver(f *btl.Frame) {
	ep.counters.FramesReceived++
	ep.counters.BytesReceived += uint64(len(f.Header) + f.Size)
	var err error
	if len(f.More) == 0 {
		err = ep.recv.Deliver(f.Header, f.Payload[:f.Size])
	} else {
		err = ep.land(f)
	}
	switch {
	case ep.gone:
	case err != nil:
		ep.fail(err)
	default:
		ep.recv.Released(f)
	}
}

// land copies a payload of several pieces to where the receiver wants it.
func (ep *endpoint) land(f *btl.Frame) error {
	l, err := ep.recv.Begin(f.Header, f.Size)
	if err != nil || ep.gone {
		return err
	}
	f.Pieces(0, func(p []byte) bool {
		l.Fill(p)
		return true
	})
	return ep.recv.End(l)
}

// fail ends the endpoint: its own process has sent what it does not understand.
func (ep *endpoint) fail(err error) {
	ep.failed = true
	ep.first, ep.last, ep.count = nil, nil, 0
	rank := ep.m.host.Rank()
	ep.recv.Down(&btl.ConnError{
		Transport: "self", Rank: rank, Peer: rank, PeerHost: ep.m.host.Hostname(),
		Phase: "receiving", Err: err,
	})
}

// Close implements [btl.Endpoint].
func (ep *endpoint) Close() error {
	ep.gone = true
	ep.first, ep.last, ep.count = nil, nil, 0
	if i := slices.Index(ep.m.endpoints, ep); i >= 0 {
		ep.m.endpoints = slices.Delete(ep.m.endpoints, i, i+1)
	}
	return nil
}

// Desc implements [btl.Endpoint].
func (ep *endpoint) Desc() string { return "within the process" }

// Report implements [btl.Reporter].
func (ep *endpoint) Report() btl.Report {
	c := ep.counters
	return btl.Report{Counters: &c}
}
