package conformance

import (
	"fmt"
	"io"
	"time"
)

var wireCases = []testCase{
	{"strangers", "Whoever connects and sends nonsense, too much, too little or nothing at all harms nobody and is not waited for.", checkStrangers, on(ruleHarmless, ruleNoPanic, ruleStaysUp)},
	{"damage", "Nonsense in the middle of a connection ends that connection, or nothing; no other one suffers.", checkDamage, on(ruleHarmless, ruleNoPanic, ruleNoticed, ruleStaysUp)},
}

// nonsense returns what strangers send.
func (t *trial) nonsense() [][]byte {
	random := func(n int) []byte {
		b := make([]byte, n)
		noise.fill(b, t.rng.Uint64(), 0)
		return b
	}
	filled := func(n int, c byte) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = c
		}
		return b
	}
	all := [][]byte{nil, {0}, filled(64, 0xFF), filled(64, 0), filled(1<<16, 0xFF), filled(1<<16, 0),
		[]byte("GET / HTTP/1.1\r\nHost: strand\r\n\r\n"), []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")}
	for _, n := range []int{1, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 100, 1000, 5000, 1 << 16} {
		all = append(all, random(n))
	}
	return all
}

// mostWarnings is how many warnings a few strangers may cause. More may come in time, some a second.
const mostWarnings = 4

func checkStrangers(t *trial) {
	w := t.open(3)
	there, back := w.join(w.pair())
	target := w.ranks[0]
	var open []io.Closer
	came, began := 0, time.Now()
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for i, b := range t.nonsense() {
		for _, stranger := range target.strangers() {
			came++
			// The other side may hang up in the middle of it.
			_, _ = stranger.Write(b)
			if i%3 == 0 {
				stranger.Close()
			} else {
				open = append(open, stranger) // stays, half open
			}
		}
		there.post(w.randomSpecs(5, 64<<10)...)
		back.post(w.randomSpecs(5, 64<<10)...)
		w.arrives(ruleHarmless, fmt.Sprintf("frames to arrive while strangers send nonsense (%d bytes)", len(b)))
	}
	if len(open) == 0 {
		t.skip("nobody can connect as a stranger: the module watches no socket that can be dialled, and the subject has no Wire")
	}
	if n := target.host.warnings.Load(); n > mostWarnings && n > 2*int64(time.Since(began)/time.Second) {
		t.violate(ruleHarmless, "rank %d has warned %d times of %d strangers; anybody can fill its log", target.id, n, came)
	}
	t.mu.Lock()
	arrived := w.accepts
	t.mu.Unlock()
	if last := w.ranks[1]; there.r != back.r {
		w.join(last, target)
		w.settle()
		if t.mu.Lock(); w.accepts > arrived+1 {
			t.violateLocked(ruleAccept, "strangers were accepted as peers")
		}
		t.mu.Unlock()
	}
	// The modules close while strangers are still connected.
	w.settle()
	w.close()
}

func checkDamage(t *trial) {
	tried := false
	for _, b := range t.nonsense() {
		if len(b) == 0 {
			continue
		}
		s := t.stage()
		t.mu.Lock()
		s.there.strangers, s.back.strangers = true, true
		t.mu.Unlock()
		s.victim.stall()
		tried = s.back.inject(b) || tried
		s.victim.resume()
		s.goOn("one connection is damaged")
		// What looks like the start of a frame is waited for; then the peer hangs up.
		s.victim.closeModules()
		t.await(ruleNoticed, "a damaged connection to end with its peer", func() bool { return s.there.downs > 0 })
		s.w.settle()
		s.w.close()
		t.check()
		if !tried {
			t.skip("nothing can be put on the wire: the module watches no socket of a connection or for datagrams, and the subject has no Inject")
		}
	}
}
