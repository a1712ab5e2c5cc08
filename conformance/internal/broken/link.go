package broken

import (
	"fmt"

	"github.com/strandmp/strand/btl"
)

// A Link stands between an endpoint of the correct transport and the suite's
// receiver: it is the endpoint to the one and the receiver to the other.
type Link struct {
	m       *Module
	inner   btl.Endpoint
	r       btl.Receiver
	closed  bool
	address []byte // where it connects to

	// For the faults.
	n       int
	sentAt  int64
	last    [2][]byte    // header and payload
	frames  []*btl.Frame // kept back
	lanes   []int
	memory  []byte       // of a landing
	landing *btl.Landing // the suite's, of which private is a copy
	private btl.Landing
	isBusy  bool
	isGone  bool     // what was kept
	pieces  [][]byte // of the host's frames that are done, by place
	isUp    bool
	swallow map[*btl.Landing]bool

	counters btl.Counters
}

func (m *Module) newLink(ep btl.Endpoint) *Link {
	l := &Link{m: m, inner: ep, swallow: make(map[*btl.Landing]bool)}
	m.links = append(m.links, l)
	return l
}

// outer is the endpoint as the suite sees it.
func (l *Link) outer() btl.Endpoint {
	if l.m.c.fault.extend != nil {
		return l.m.c.fault.extend(l)
	}
	return l
}

// Send implements [btl.Endpoint].
func (l *Link) Send(f *btl.Frame, lane int) btl.Result {
	if l.m.c.fault.send != nil {
		return l.m.c.fault.send(l, f, lane)
	}
	result := l.inner.Send(f, lane)
	if result == btl.Taken || result == btl.Done {
		l.counters.FramesSent++
		l.counters.BytesSent += uint64(len(f.Header) + f.Size)
	}
	return result
}

// Recall implements [btl.Recaller].
func (l *Link) Recall() int {
	if l.m.c.fault.recall != nil {
		return l.m.c.fault.recall(l)
	}
	return l.inner.(btl.Recaller).Recall()
}

// Close implements [btl.Endpoint].
func (l *Link) Close() error {
	l.closed = true
	if l.m.c.fault.close != nil {
		return l.m.c.fault.close(l)
	}
	return l.inner.Close()
}

// Desc implements [btl.Endpoint].
func (l *Link) Desc() string { return l.inner.Desc() }

// Up implements [btl.Receiver].
func (l *Link) Up(hello []byte) {
	l.isUp = true
	if l.m.c.fault.up != nil {
		l.m.c.fault.up(l, hello)
		return
	}
	l.r.Up(hello)
}

// Writable implements [btl.Receiver].
func (l *Link) Writable() {
	if l.m.c.fault.writable != nil {
		l.m.c.fault.writable(l)
		return
	}
	l.r.Writable()
}

// Released implements [btl.Receiver].
func (l *Link) Released(f *btl.Frame) {
	if l.m.c.fault.released != nil {
		l.m.c.fault.released(l, f)
		return
	}
	l.r.Released(f)
}

// Deliver implements [btl.Receiver].
func (l *Link) Deliver(header, payload []byte) error {
	if l.m.c.fault.deliver != nil {
		return l.m.c.fault.deliver(l, header, payload)
	}
	l.counters.FramesReceived++
	l.counters.BytesReceived += uint64(len(header) + len(payload))
	return l.r.Deliver(header, payload)
}

// Begin implements [btl.Receiver].
func (l *Link) Begin(header []byte, size int) (*btl.Landing, error) {
	if l.m.c.fault.begin != nil {
		return l.m.c.fault.begin(l, header, size)
	}
	l.counters.FramesReceived++
	l.counters.BytesReceived += uint64(len(header) + size)
	return l.r.Begin(header, size)
}

// End implements [btl.Receiver].
func (l *Link) End(landing *btl.Landing) error {
	if l.m.c.fault.end != nil {
		return l.m.c.fault.end(l, landing)
	}
	return l.r.End(landing)
}

// Drop implements [btl.Receiver].
func (l *Link) Drop(landing *btl.Landing) {
	if l.m.c.fault.drop != nil {
		l.m.c.fault.drop(l, landing)
		return
	}
	l.r.Drop(landing)
}

// Down implements [btl.Receiver].
func (l *Link) Down(err error) {
	if l.m.c.fault.down != nil {
		l.m.c.fault.down(l, err)
		return
	}
	l.r.Down(err)
}

// nth reports whether this is the nth call, or a multiple of it.
func (l *Link) nth(n int) bool {
	l.n++
	return l.n%n == 0
}

// delay keeps a frame back, to be sent by flush.
func (l *Link) delay(f *btl.Frame, lane int) btl.Result {
	l.frames, l.lanes = append(l.frames, f), append(l.lanes, lane)
	return btl.Taken
}

// flush sends what was kept back, as far as possible.
func (l *Link) flush() {
	for len(l.frames) > 0 {
		f := l.frames[0]
		result := l.inner.Send(f, l.lanes[0])
		if result == btl.Busy {
			return
		}
		l.frames, l.lanes = l.frames[1:], l.lanes[1:]
		if result == btl.Done {
			l.r.Released(f)
		}
	}
}

// counting is a link that counts, and tells what change makes of that.
type counting struct {
	*Link
	change func(*btl.Counters)
}

func (c counting) link() *Link { return c.Link }

func (c counting) Report() btl.Report {
	told := c.counters
	c.change(&told)
	return btl.Report{Counters: &told}
}

// nameless is a link that people are told nothing of.
type nameless struct{ *Link }

func (n nameless) link() *Link { return n.Link }
func (nameless) Desc() string  { return "" }

// indiscreet is a link that tells everybody what is secret.
type indiscreet struct{ *Link }

func (i indiscreet) link() *Link  { return i.Link }
func (i indiscreet) Desc() string { return fmt.Sprintf("%X", i.m.Secret()) }

// stating is a link that is always in one state.
type stating struct {
	*Link
	state string
}

func (s stating) link() *Link        { return s.Link }
func (s stating) Report() btl.Report { return btl.Report{State: s.state} }

// light is a link that says that nothing waits.
type light struct{ *Link }

func (l light) link() *Link { return l.Link }
func (light) Flush()        {}
func (light) Queued() int   { return 0 }

// polite is a link that can only be given up in order.
type polite struct{ *Link }

func (p polite) link() *Link { return p.Link }
func (p polite) Abort()      { _ = p.Close() }

// polling is a link that can be polled and says that nothing was there.
type polling struct{ *Link }

func (p polling) link() *Link { return p.Link }

func (p polling) Poll() bool {
	p.m.mail.run()
	p.m.inner.Progress()
	return false
}

// restless always says that it has polled something.
type restless struct{ polling }

func (r restless) Poll() bool {
	r.polling.Poll()
	return true
}
