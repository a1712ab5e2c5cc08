package conformance

import "github.com/strandmp/strand/btl"

var keptCases = []testCase{
	{"kept", "What an endpoint keeps (Keeper) of frames that it has passed on is there until the peer has read it: all of it while the peer stands still, the right bytes or none when more was sent than the medium holds, and once more in Save, in whichever way the connection ends.", checkKept, on(ruleKept)},
}

// An ending is a way in which a connection ends whose peer stands still, and has not read everything.
type ending struct {
	end    func(there, back *port) (ended bool)
	remote bool // Down says so
}

var endings = []ending{
	{end: func(there, _ *port) bool { there.close(); return true }},
	{end: func(there, _ *port) bool { there.abandon(); return true }},
	{end: func(there, _ *port) bool { there.r.closeModules(); return true }},
	{end: func(_, back *port) bool { back.close(); return true }, remote: true},
	{end: func(_, back *port) bool { back.abandon(); return true }, remote: true},
	{end: func(_, back *port) bool { return back.cut() }, remote: true},
}

func checkKept(t *trial) {
	for _, e := range endings {
		w := t.open(2)
		a, b := w.pair()
		there, back := w.join(a, b)
		if _, is := there.ep.(btl.Keeper); !is {
			t.skip("the endpoint is no Keeper")
		}
		if a == b && e.remote {
			continue // its own end is that of the peer
		}
		t.mu.Lock()
		there.keepsAll = true
		t.mu.Unlock()
		const rounds = 3
		for range rounds {
			w.overwrite(there, b)
		}
		b.stall()
		there.fill(w.keepable()...)
		t.check()
		if t.holds(func() bool { return there.hoard.unread == 0 }) {
			t.skip("Send says Done to no frame of a size that is kept")
		}
		w.ends(e, there, back)
		b.resume()
		w.close()
		t.check()
	}
}

// overwrite sends more frames than the medium holds, and reads all again: while the peer stands still, while it reads,
// and when it has had all.
func (w *world) overwrite(there *port, b *rank) {
	b.stall()
	there.fill(w.keepable()...)
	there.readAllAgain()
	b.resume()
	there.post(w.keepable()...)
	there.readAllAgain()
	w.settle()
	there.readAllAgain()
}

// ends ends the connection of two ports.
func (w *world) ends(e ending, there, back *port) {
	w.t.falls(there, back)
	if e.end(there, back) && e.remote {
		w.t.await(ruleNoticed, there.String()+" to go down because its peer has gone", func() bool { return there.downs > 0 })
	}
}

// keepable are frames of all sizes that are kept, and in all shapes.
func (w *world) keepable() []spec {
	sizes := []int{1, 40, 129, 700, 1 << 10, 2000, btl.MostKept - 1, btl.MostKept}
	var specs []spec
	for i, size := range sizes {
		specs = append(specs, spec{
			header: []int{16, btl.MaxHeader, 13}[i%3],
			size:   min(size, w.maxFrame()),
			shape:  []shape{whole, halves, tail, gaps}[i%4],
			lane:   i % w.attr.Lanes,
			shared: i%5 == 0,
		})
	}
	return specs
}

// readAllAgain reads all that was kept since the port was made, whether it is still there or not.
func (p *port) readAllAgain() {
	p.r.do("Keeper.Again", func() {
		p.w.t.mu.Lock()
		places := p.hoard.places
		if !p.mayReadAgain() {
			places = nil
		}
		p.w.t.mu.Unlock()
		for _, one := range places {
			p.readAgain(one)
		}
	})
	p.w.t.check()
}
