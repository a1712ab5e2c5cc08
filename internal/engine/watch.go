package engine

import (
	"github.com/strandmp/strand/btl"
)

// watch is a descriptor in the poller. Its token is its place in the table and
// that place's generation, so that an event reported before the watch was
// stopped can not reach whoever has the place now.
type watch struct {
	e       *Engine
	fd      int
	handler btl.Handler
	token   uint64
	writing bool
}

type watchTable struct {
	slots []watchSlot
	free  []uint32
}

type watchSlot struct {
	w   *watch
	gen uint32
}

func (t *watchTable) insert(w *watch) {
	var i uint32
	if n := len(t.free); n > 0 {
		i, t.free = t.free[n-1], t.free[:n-1]
	} else {
		i = uint32(len(t.slots))
		t.slots = append(t.slots, watchSlot{})
	}
	t.slots[i].w = w
	w.token = uint64(i) | uint64(t.slots[i].gen)<<32
}

func (t *watchTable) remove(w *watch) {
	i := uint32(w.token)
	t.slots[i].w = nil
	// The top bit stays clear: no token equals that of the kick.
	t.slots[i].gen = (t.slots[i].gen + 1) &^ (1 << 31)
	t.free = append(t.free, i)
}

func (t *watchTable) lookup(token uint64) *watch {
	i := uint32(token)
	if uint64(i) >= uint64(len(t.slots)) || t.slots[i].gen != uint32(token>>32) {
		return nil
	}
	return t.slots[i].w
}

// Watch implements [btl.Loop].
func (e *Engine) Watch(fd int, h btl.Handler) (btl.Watch, error) {
	w := &watch{e: e, fd: fd, handler: h}
	e.watches.insert(w)
	if err := e.poller.add(fd, w.token); err != nil {
		e.watches.remove(w)
		return nil, err
	}
	return w, nil
}

// Write implements [btl.Watch].
func (w *watch) Write(on bool) {
	if w.handler == nil || w.writing == on {
		return
	}
	if w.e.aside.watch == w {
		w.writing = on
		w.e.restore() // or the next poll does
		return
	}
	if err := w.e.poller.write(w.fd, w.token, on); err == nil {
		w.writing = on
	}
}

// Stop implements [btl.Watch].
func (w *watch) Stop() {
	if w.handler == nil {
		return
	}
	w.handler = nil
	if !w.e.aside.forget(w) {
		w.e.poller.remove(w.fd)
	}
	w.e.watches.remove(w)
}

// dispatch calls the handlers of the descriptors that are ready.
func (e *Engine) dispatch(events []event) bool {
	did := false
	for _, ev := range events {
		token := ev.token
		if r, ok := e.poller.(interface {
			resolve(uint64) (uint64, bool)
		}); ok {
			if token, ok = r.resolve(token); !ok {
				continue
			}
		}
		if w := e.watches.lookup(token); w != nil {
			did = w.handler.Poll(ev.writable) || did
		}
	}
	return did
}
