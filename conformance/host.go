package conformance

import (
	"bytes"
	"fmt"
	"slices"
	"sync/atomic"
	"unicode"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

// A host is the [btl.Host] of one rank.
type host struct {
	r      *rank
	hello  []byte
	met    map[int]bool // whose keys were asked for
	refuse error        // what Accept answers

	warnings atomic.Int64
}

func newHost(r *rank) *host {
	h := &host{r: r, met: make(map[int]bool), hello: make([]byte, r.w.helloSize(r.id))}
	noise.fill(h.hello, uint64(r.id)+1<<20, 0)
	return h
}

func (h *host) Rank() int             { return h.r.id }
func (h *host) Size() int             { return len(h.r.w.ranks) }
func (h *host) Hostname() string      { return fmt.Sprintf("host%d", h.r.id) }
func (h *host) Job() string           { return "conformance" }
func (h *host) Params() *param.Values { return h.r.w.values }
func (h *host) Loop() btl.Loop        { return h.r.loop }

// Secret implements [btl.Host]: as in a program, it comes when all modules are open.
func (h *host) Secret() []byte {
	if !h.r.w.opened.Load() {
		return nil
	}
	return h.r.w.secret
}

// PairKey implements [btl.Host]: as in a program, it takes a while at first.
func (h *host) PairKey(rank int, found func(key []byte, err error)) {
	if !h.r.within() {
		h.r.w.t.violate(ruleSerial, "rank %d: Host.PairKey was called from outside the module's calls", h.r.id)
		return
	}
	key := h.r.w.pairKey(rank, h.r.id)
	if h.met[rank] {
		found(key, nil)
		return
	}
	h.r.loop.Post(func() {
		h.met[rank] = true
		found(key, nil)
	})
}

// Hello implements [btl.Host]: it comes with the secret.
func (h *host) Hello() []byte {
	if !h.r.w.opened.Load() {
		return nil
	}
	return h.hello
}

// Logf implements [btl.Host].
func (h *host) Logf(level btl.LogLevel, format string, args ...any) {
	line := fmt.Appendf(nil, format, args...)
	h.r.discreet("a line of log", line)
	if bytes.ContainsFunc(line, unicode.IsControl) {
		h.r.w.t.violate(ruleHarmless, "rank %d: a line of log has control characters, which a terminal obeys: %q", h.r.id, line)
	}
	if level == btl.LogWarn {
		h.warnings.Add(1)
	}
}

func (h *host) Accept(m btl.Module, peer int, hello []byte, path int, ep btl.Endpoint) (btl.Receiver, error) {
	w, t := h.r.w, h.r.w.t
	if !h.r.within() {
		t.violate(ruleSerial, "rank %d: Host.Accept was called from outside the module's calls", h.r.id)
		return nil, btl.ErrClosed
	}
	if h.r.sending.Load() > 0 {
		t.violate(ruleSendQuiet, "rank %d: Host.Accept was called from within Send", h.r.id)
	}
	h.r.w.checkMember(h.r.id)
	switch {
	case !h.r.has(m):
		t.violate(ruleAccept, "rank %d: Accept for a module that this rank has not opened", h.r.id)
	case peer < 0 || peer >= len(w.ranks):
		t.violate(ruleAccept, "rank %d: Accept names rank %d as the peer, in a world of %d", h.r.id, peer, len(w.ranks))
		return nil, btl.ErrClosed
	case !bytes.Equal(hello, w.ranks[peer].host.hello):
		t.violate(ruleAccept, "rank %d: Accept shows a hello of %d bytes that is not the one of rank %d (%d bytes)",
			h.r.id, len(hello), peer, len(w.ranks[peer].host.hello))
	case path < 0:
		t.violate(ruleAccept, "rank %d: Accept names path %d", h.r.id, path)
	case ep == nil:
		t.violate(ruleAccept, "rank %d: Accept without an endpoint", h.r.id)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.tell()
	w.accepts++
	t.events++
	if h.refuse != nil {
		return nil, h.refuse
	}
	p := w.newPortLocked(h.r, peer)
	p.ep, p.accepted = ep, true
	if w.onAccept != nil {
		w.onAccept(p)
	}
	return p, nil
}

// checkMember reports a connection that can only be the intruder's, since all
// others have been made. It comes before all other checks, since the case ends at
// the first rule that is seen broken.
func (w *world) checkMember(rank int) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	if w.besieged {
		w.t.violateLocked(ruleProof, "rank %d: accepted a process of another job, or one without the key of the rank that it says it is", rank)
	}
}

// has reports whether the module is one of this rank's. While it is being
// opened nobody accepts, so the list is complete.
func (r *rank) has(m btl.Module) bool {
	return slices.Contains(r.modules, m)
}
