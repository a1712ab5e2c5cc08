package broken

import (
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/mem"
)

// sendFaults are those of Send, Released and Writable.
var sendFaults = []Fault{
	{Name: "releases a frame and reads it later", Case: "released", Rule: "intact",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			l.m.Host.Loop().Post(func() {
				if l.closed {
					return
				}
				l.r.Released(f)
				l.inner.Send(f, lane)
			})
			return btl.Taken
		},
		released: func(*Link, *btl.Frame) {}},
	{Name: "forgets Writable", Case: "busy-writable", Rule: "writable",
		writable: func(*Link) {}},
	{Name: "says Writable much later", Case: "writable-soon", Rule: "writable",
		writable: func(l *Link) {
			l.m.Host.Loop().After(1500*time.Millisecond, func() {
				if !l.closed {
					l.r.Writable()
				}
			})
		}},
	{Name: "says Writable and stays busy", Case: "busy-writable", Rule: "writable",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			result := l.inner.Send(f, lane)
			l.isBusy = result == btl.Busy
			return result
		},
		tick: func(l *Link) {
			if l.isBusy {
				l.isBusy = false
				l.r.Writable()
			}
		}},
	{Name: "calls Released from within Send", Case: "released", Rule: "send-quiet",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			result := l.inner.Send(f, lane)
			if result == btl.Done {
				l.r.Released(f)
				return btl.Taken
			}
			return result
		}},
	{Name: "releases twice", Case: "released", Rule: "released",
		released: func(l *Link, f *btl.Frame) {
			l.r.Released(f)
			l.r.Released(f)
		}},
	{Name: "never releases", Case: "released", Rule: "released",
		released: func(*Link, *btl.Frame) {}},
	{Name: "releases what was done", Case: "released", Rule: "released",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			result := l.inner.Send(f, lane)
			if result == btl.Done {
				l.frames = append(l.frames, f)
			}
			return result
		},
		tick: func(l *Link) {
			for _, f := range l.frames {
				l.r.Released(f)
			}
			l.frames = nil
		}},
	{Name: "keeps what it was to give back", Case: "recall", Rule: "recall",
		recall: func(*Link) int { return 0 }},
	{Name: "sends from memory that it has given back", Case: "recall", Rule: "recall",
		config: func(c *mem.Config) { c.Borrows = true }},
	{Name: "breaks its connection to give frames back", Case: "recall", Rule: "stays-up",
		recall: func(l *Link) int {
			_ = mem.Sever(l.inner)
			return l.inner.(btl.Recaller).Recall()
		}},
	{Name: "forgets Writable when it has given frames back", Case: "recall", Rule: "writable",
		recall: func(l *Link) int {
			l.isBusy = true
			return l.inner.(btl.Recaller).Recall()
		},
		writable: func(l *Link) {
			if !l.isBusy {
				l.r.Writable()
			}
		}},
	{Name: "writes to the payload", Case: "released", Rule: "lent",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			result := l.inner.Send(f, lane)
			if len(f.Payload) > 0 {
				f.Payload[0] ^= 1
			}
			return result
		}},
	{Name: "consumes the vector of a frame", Case: "vectors", Rule: "lent",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			result := l.inner.Send(f, lane)
			if result != btl.Busy {
				f.More = nil
			}
			return result
		}},
	{Name: "knows only the first piece", Case: "vectors", Rule: "intact",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			if len(f.More) == 0 {
				return l.inner.Send(f, lane)
			}
			g := &btl.Frame{Header: f.Header, Payload: make([]byte, f.Size), Size: f.Size}
			copy(g.Payload, f.Payload)
			if result := l.inner.Send(g, lane); result != btl.Taken {
				return result
			}
			return btl.Done
		},
		released: func(*Link, *btl.Frame) {}},
	{Name: "believes what is in Next", Case: "sizes", Rule: "intact",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			result := l.inner.Send(f, lane)
			if result != btl.Busy && f.Next != nil {
				l.inner.Send(f.Next, lane)
			}
			return result
		}},
	{Name: "says Busy and takes the frame", Case: "exactly-once", Rule: "once",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			result := l.inner.Send(f, lane)
			if result == btl.Done && l.nth(5) {
				return btl.Busy
			}
			return result
		}},
	{Name: "gives its connection up for a frame of many pieces", Case: "vectors", Rule: "stays-up",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			if len(f.More) < 1024 {
				return l.inner.Send(f, lane)
			}
			l.m.Host.Loop().Post(func() {
				if !l.closed {
					l.closed = true
					_ = l.inner.Close()
					l.r.Down(syscall.EMSGSIZE)
				}
			})
			return btl.Broken
		}},
	{Name: "returns no result", Case: "exactly-once", Rule: "result",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			l.inner.Send(f, lane)
			return btl.Result(9)
		}},
	{Name: "says Broken and nothing else", Case: "connect-absent", Rule: "noticed",
		down: func(*Link, error) {}},
	{Name: "breaks off without Down", Case: "after-death", Rule: "broken",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			if l.n > 0 {
				return btl.Busy
			}
			return l.inner.Send(f, lane)
		},
		down: func(l *Link, err error) {
			l.n = 1
			l.r.Down(err)
		}},
	{Name: "queues without bound", Case: "busy-writable", Rule: "bounded",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			result := l.delay(f, lane)
			return result
		},
		tick: (*Link).flush},
	{Name: "queues without bound, and is busy for a moment each time", Case: "busy-writable", Rule: "bounded",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			if l.nth(100) {
				l.m.Host.Loop().Post(func() {
					if !l.closed {
						l.r.Writable()
					}
				})
				return btl.Busy
			}
			return l.delay(f, lane)
		},
		writable: (*Link).flush,
		tick:     (*Link).flush},
	{Name: "loses what comes after a pause", Case: "rest", Rule: "reliable",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			now := l.m.Host.Loop().Now()
			pause := now - l.sentAt
			if l.sentAt = now; pause > int64(50*time.Millisecond) && pause < now {
				return btl.Done
			}
			return l.inner.Send(f, lane)
		}},
	{Name: "blocks in Send", Case: "exactly-once", Rule: "no-block",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			if l.nth(20) {
				<-l.m.c.done
			}
			return l.inner.Send(f, lane)
		}},
	{Name: "blocks in Send for a moment", Case: "exactly-once", Rule: "no-block",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			if l.nth(20) {
				<-time.After(250 * time.Millisecond)
			}
			return l.inner.Send(f, lane)
		}},
	{Name: "keeps a lone frame back", Case: "lone-frame", Rule: "at-once",
		send: (*Link).delay, tick: (*Link).flush},
	{Name: "sends what it keeps back by the third poll", Case: "held-back", Rule: "at-once",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			if l.m.Host.Loop().Epoch() != uint64(l.n) {
				l.n = int(l.m.Host.Loop().Epoch())
				l.flush()
				return l.inner.Send(f, lane)
			}
			return l.delay(f, lane)
		},
		tick: func(l *Link) {
			if l.m.Host.Loop().Epoch() > uint64(l.n)+2 {
				l.flush()
			}
		}},
	{Name: "cuts what is too long", Case: "oversize", Rule: "intact",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			if most := l.m.inner.Attr().MaxFrame; f.Size > most {
				g := &btl.Frame{Header: f.Header, Payload: make([]byte, most), Size: most}
				l.inner.Send(g, lane)
				return btl.Done
			}
			return l.inner.Send(f, lane)
		},
		released: func(l *Link, f *btl.Frame) {
			if f.Owner != nil {
				l.r.Released(f)
			}
		}},
	{Name: "says that it Confirms", Case: "released", Rule: "confirms",
		attr: func(_ *Module, a btl.Attr) btl.Attr {
			a.Confirms = true
			return a
		}},
	{Name: "sends after Close", Case: "close-silent", Rule: "closed",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			if l.closed {
				return btl.Done
			}
			return l.inner.Send(f, lane)
		}},
	{Name: "throws away at Close what it keeps back", Case: "goodbye", Rule: "goodbye",
		send: (*Link).delay, tick: (*Link).flush},
}
