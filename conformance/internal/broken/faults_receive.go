package broken

import (
	"bytes"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/mem"
)

// receiveFaults are those of Deliver, Begin, End and Drop.
var receiveFaults = []Fault{
	{Name: "loses a frame", Case: "exactly-once", Rule: "reliable",
		deliver: func(l *Link, header, payload []byte) error {
			if l.nth(50) {
				return nil
			}
			return l.r.Deliver(header, payload)
		}},
	{Name: "duplicates a frame", Case: "exactly-once", Rule: "once",
		deliver: func(l *Link, header, payload []byte) error {
			if l.nth(50) {
				_ = l.r.Deliver(header, payload)
			}
			return l.r.Deliver(header, payload)
		}},
	{Name: "reorders within a lane", Case: "lane-order", Rule: "ordered",
		deliver: func(l *Link, header, payload []byte) error {
			if l.nth(2) { // the case sends frames of a lane in a row: the next one is of the same
				l.last = [2][]byte{bytes.Clone(header), bytes.Clone(payload)}
				return nil
			}
			err := l.r.Deliver(header, payload)
			if l.last[0] != nil {
				_ = l.r.Deliver(l.last[0], l.last[1])
				l.last[0] = nil
			}
			return err
		}},
	{Name: "corrupts a byte", Case: "sizes", Rule: "intact",
		deliver: func(l *Link, header, payload []byte) error {
			payload = bytes.Clone(payload)
			if len(payload) > 8<<10 {
				payload[len(payload)-1] ^= 0x10
			}
			return l.r.Deliver(header, payload)
		}},
	{Name: "truncates a long header", Case: "headers", Rule: "intact",
		deliver: func(l *Link, header, payload []byte) error {
			return l.r.Deliver(header[:min(len(header), btl.MaxHeader-1)], payload)
		}},
	{Name: "loses the last byte of a payload", Case: "sizes", Rule: "intact",
		deliver: func(l *Link, header, payload []byte) error {
			if len(payload) == 4096 {
				payload = payload[:4095]
			}
			return l.r.Deliver(header, payload)
		}},
	{Name: "delivers to another peer's receiver", Case: "all-to-all", Rule: "addressed",
		deliver: func(l *Link, header, payload []byte) error {
			for _, other := range l.m.links {
				if other != l && other.isUp && l.nth(9) {
					return other.r.Deliver(header, payload)
				}
			}
			return l.r.Deliver(header, payload)
		}},
	{Name: "now and then delivers to another peer's receiver", Case: "all-to-all", Rule: "addressed",
		deliver: func(l *Link, header, payload []byte) error {
			r := l.r
			if other := l.m.latest; l.m.nth(150) && other != nil && other.isUp && !other.closed {
				r = other.r
			}
			l.m.latest = l
			return r.Deliver(header, payload)
		}},
	{Name: "ignores a refusal", Case: "refusal", Rule: "refusal",
		deliver: func(l *Link, header, payload []byte) error {
			_ = l.r.Deliver(header, payload)
			return nil
		}},
	{Name: "calls from a goroutine of its own", Case: "dialogue", Rule: "serial",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			if l.nth(100) {
				go l.r.Writable()
			}
			return l.inner.Send(f, lane)
		}},
	{Name: "ends a landing too soon", Case: "landing", Rule: "landing",
		begin: func(l *Link, header []byte, size int) (*btl.Landing, error) {
			landing, err := l.r.Begin(header, size)
			if err == nil {
				l.swallow[landing] = true
				_ = l.r.End(landing)
			}
			return landing, err
		},
		end: func(l *Link, landing *btl.Landing) error {
			if l.swallow[landing] {
				return nil
			}
			return l.r.End(landing)
		}},
	{Name: "forgets Drop", Case: "peer-dies-sending", Rule: "landing",
		drop: func(*Link, *btl.Landing) {}},
	{Name: "reads without the lock into memory that it has not pinned", Case: "move-revoke", Rule: "revoke",
		config: func(c *mem.Config) { c.Moves, c.Unpinned, c.Chunk = true, true, 300<<10 }},
	{Name: "writes beyond a piece", Case: "landing", Rule: "guard",
		begin: func(l *Link, header []byte, size int) (*btl.Landing, error) {
			landing, err := l.r.Begin(header, size)
			if err == nil {
				piece := landing.Next()
				if n := len(piece); cap(piece) > n {
					piece[:n+1][n] = 0
				}
			}
			return landing, err
		}},
	{Name: "writes after Revoke", Case: "revoke", Rule: "revoke",
		begin: func(l *Link, header []byte, size int) (*btl.Landing, error) {
			landing, err := l.r.Begin(header, size)
			if err == nil {
				l.memory = landing.Next()
			}
			return landing, err
		},
		end: func(l *Link, landing *btl.Landing) error {
			if landing.Revoked() {
				l.memory[0] = 0
			}
			return l.r.End(landing)
		}},
	{Name: "writes after End", Case: "landing", Rule: "revoke",
		begin: func(l *Link, header []byte, size int) (*btl.Landing, error) {
			landing, err := l.r.Begin(header, size)
			if err == nil {
				l.memory = landing.Next()
			}
			return landing, err
		},
		end: func(l *Link, landing *btl.Landing) error {
			err := l.r.End(landing)
			l.memory[0] = 0
			return err
		}},
	{Name: "keeps the memory of a landing from Begin on", Case: "late-bytes", Rule: "revoke",
		begin: keep,
		tick:  follow,
		end: func(l *Link, _ *btl.Landing) error {
			follow(l)
			return l.r.End(l.landing)
		},
		drop: func(l *Link, _ *btl.Landing) { l.r.Drop(l.landing) }},
	{Name: "forgets the end of a frame that was revoked", Case: "late-bytes", Rule: "reliable",
		end: func(l *Link, landing *btl.Landing) error {
			if landing.Revoked() {
				return nil
			}
			return l.r.End(landing)
		}},
	{Name: "forgets Drop for a frame that was revoked", Case: "late-end", Rule: "landing",
		drop: func(l *Link, landing *btl.Landing) {
			if !landing.Revoked() {
				l.r.Drop(landing)
			}
		}},
}

// keep reads a payload into a landing of its own, over the same memory, which the
// host can not revoke.
func keep(l *Link, header []byte, size int) (*btl.Landing, error) {
	landing, err := l.r.Begin(header, size)
	if err != nil {
		return nil, err
	}
	var pieces [][]byte
	for p := landing.Next(); p != nil; p = landing.Next() {
		pieces = append(pieces, p)
		landing.Advance(len(p))
	}
	last := pieces[len(pieces)-1]
	landing.Set(size, pieces[0], pieces[1:], last)
	l.private.Set(size, pieces[0], pieces[1:], last)
	l.landing = landing
	return &l.private, nil
}

// follow makes the host's landing look as if it was read into.
func follow(l *Link) {
	if l.landing == nil {
		return
	}
	for n := l.landing.Left() - l.private.Left(); n > 0; n = l.landing.Left() - l.private.Left() {
		l.landing.Advance(min(n, len(l.landing.Next())))
	}
}
