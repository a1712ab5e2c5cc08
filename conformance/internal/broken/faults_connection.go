package broken

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/mem"
)

var errVague = errors.New("something went wrong")

// early is the header of a frame that only makes the transport connect.
var early = []byte("early")

// connectionFaults are those of Connect, Up, Down and Close.
var connectionFaults = []Fault{
	{Name: "connects before the first Send", Case: "connect-lazily", Rule: "lazy",
		connect: func(l *Link) { l.inner.Send(&btl.Frame{Header: early}, 0) },
		deliver: func(l *Link, header, payload []byte) error {
			if string(header) == string(early) {
				return nil
			}
			return l.r.Deliver(header, payload)
		},
		released: func(l *Link, f *btl.Frame) {
			if f.Owner != nil {
				l.r.Released(f)
			}
		}},
	{Name: "asks nobody for the secret", Case: "another-job", Rule: "proof",
		config: func(c *mem.Config) { c.Trusting = true }},
	{Name: "asks for the secret before there is one", Case: "another-job", Rule: "proof",
		config: func(c *mem.Config) { c.Hasty, c.Keyless = true, true }},
	{Name: "asks nobody for the key of the pair", Case: "another-key", Rule: "proof",
		config: func(c *mem.Config) { c.Keyless = true }},
	{Name: "lets in who has gone, and does not notice", Case: "connect-given-up", Rule: "noticed",
		config: func(c *mem.Config) { c.Curt = true }},
	{Name: "is in too much of a hurry to connect", Case: "connect-late", Rule: "in-time",
		config: func(c *mem.Config) { c.ConnectTimeout = time.Nanosecond }},
	{Name: "says that it waited in vain, and did not wait", Case: "connect-late", Rule: "stays-up",
		config: func(c *mem.Config) { c.ConnectTimeout = time.Hour },
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			if result := l.inner.Send(f, lane); l.isUp {
				return result
			}
			l.m.Host.Loop().Post(func() { l.r.Down(fmt.Errorf("rank %d: %w", l.m.Rank(), os.ErrDeadlineExceeded)) })
			return btl.Broken
		}},
	{Name: "leaves who was silent in the dark", Case: "peer-silent", Rule: "noticed",
		config: func(c *mem.Config) { c.Curt = true }},
	{Name: "waits for ever for an answer", Case: "connect-silent", Rule: "noticed",
		down: func(l *Link, err error) {
			if l.isUp {
				l.r.Down(err)
			}
		}},
	{Name: "says goodbye when it is given up", Case: "peer-silent", Rule: "down-error",
		extend: func(l *Link) btl.Endpoint { return polite{l} }},
	{Name: "waits at Close for who does not read", Case: "peer-silent", Rule: "no-block",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			result := l.inner.Send(f, lane)
			l.isBusy = result == btl.Busy
			return result
		},
		close: func(l *Link) error {
			if l.isBusy {
				<-l.m.c.done
			}
			return l.inner.Close()
		}},
	{Name: "goes on calling when an up-call has closed it", Case: "close-inside", Rule: "closed",
		deliver: func(l *Link, header, payload []byte) error {
			err := l.r.Deliver(header, payload)
			if l.closed {
				l.r.Writable()
			}
			return err
		},
		end: func(l *Link, landing *btl.Landing) error {
			err := l.r.End(landing)
			if l.closed {
				l.r.Writable()
			}
			return err
		}},
	{Name: "never says Up", Case: "hello", Rule: "up",
		up: func(*Link, []byte) {}},
	{Name: "says Up twice", Case: "hello", Rule: "up",
		up: func(l *Link, hello []byte) {
			l.r.Up(hello)
			l.r.Up(hello)
		}},
	{Name: "truncates a hello", Case: "hello", Rule: "up",
		up: func(l *Link, hello []byte) { l.r.Up(hello[:min(len(hello), 1024)]) }},
	{Name: "takes a peer for another", Case: "exactly-once", Rule: "accept",
		accept: func(m *Module, rank int) int { return (rank + 1) % m.Size() }},
	{Name: "does not notice that a peer is gone", Case: "peer-dies-idle", Rule: "noticed",
		down: func(*Link, error) {}},
	{Name: "says Down twice", Case: "peer-dies-idle", Rule: "down-once",
		down: func(l *Link, err error) {
			l.r.Down(err)
			l.r.Down(err)
		}},
	{Name: "delivers after Down", Case: "peer-dies-idle", Rule: "down-once",
		down: func(l *Link, err error) {
			l.r.Down(err)
			_ = l.r.Deliver([]byte("late"), nil)
		}},
	{Name: "releases after Down", Case: "peer-dies-reading", Rule: "down-once",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			result := l.inner.Send(f, lane)
			if result == btl.Taken {
				l.frames = append(l.frames, f)
			}
			return result
		},
		down: func(l *Link, err error) {
			l.r.Down(err)
			if len(l.frames) > 0 {
				l.r.Released(l.frames[len(l.frames)-1])
			}
		}},
	{Name: "calls every end orderly", Case: "peer-dies-idle", Rule: "down-error",
		down: func(l *Link, _ error) { l.r.Down(btl.ErrPeerClosed) }},
	{Name: "ends in order though it has thrown frames away", Case: "close-busy", Rule: "down-error",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			if f.Size >= 1<<10 && l.nth(3) {
				return btl.Done
			}
			return l.inner.Send(f, lane)
		}},
	{Name: "calls no end orderly", Case: "goodbye", Rule: "down-error",
		down: func(l *Link, _ error) { l.r.Down(errVague) }},
	{Name: "does not say who", Case: "peer-dies-idle", Rule: "down-error",
		down: func(l *Link, _ error) { l.r.Down(errVague) }},
	{Name: "goes down without a reason", Case: "lane-order", Rule: "stays-up",
		tick: func(l *Link) {
			if l.nth(500) && l.r != nil {
				l.r.Down(errVague)
			}
		}},
	{Name: "calls after Close", Case: "close-silent", Rule: "closed",
		close: func(l *Link) error {
			err := l.inner.Close()
			l.m.Host.Loop().Post(func() { l.r.Down(btl.ErrClosed) })
			return err
		}},
	{Name: "calls from within Close", Case: "close-busy", Rule: "closed",
		close: func(l *Link) error {
			l.r.Down(btl.ErrClosed)
			return l.inner.Close()
		}},
}
