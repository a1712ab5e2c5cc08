package conformance

var trafficCases = []testCase{
	{"all-to-all", "Eight ranks send to each other at random, all at once.", checkAllToAll, on(ruleAddressed, ruleReliable)},
	{"dialogue", "Heavy traffic in both directions, most of it sent from within up-calls.", checkDialogue, on(ruleSerial, ruleReliable)},
	{"production", "The same with the progress engine that programs have, where one side waits and the other computes.", checkProduction, on(ruleSerial, ruleReliable)},
}

func checkAllToAll(t *trial) {
	const ranks = 8
	w := t.open(ranks)
	var ports []*port
	for a := range ranks {
		for b := range ranks {
			if m, _, _, _ := w.route(a, b); m != nil {
				ports = append(ports, w.connect(w.ranks[a], w.ranks[b]))
			}
		}
	}
	all := func(rounds, most int) {
		for range rounds {
			t.rng.Shuffle(len(ports), func(i, j int) { ports[i], ports[j] = ports[j], ports[i] })
			for _, p := range ports {
				p.post(w.randomSpecs(1+t.rng.IntN(6), most)...)
			}
		}
	}
	all(6, 128<<10)
	w.settle()
	// No other case sends to several peers at once for long. What goes to the wrong one of them once in
	// some hundred frames shows only here, and small frames cost little.
	all(80, 256)
}

func checkDialogue(t *trial) { t.converse(t.open(2), 4000) }

func checkProduction(t *trial) {
	w := t.openAs(3, variant{production: true})
	t.converse(w, 2000)
	w.settle()
	for a := range w.ranks {
		for b := range w.ranks {
			if m, _, _, _ := w.route(a, b); m != nil {
				w.between(w.ranks[a], w.ranks[b]).post(w.randomSpecs(20, 256<<10)...)
			}
		}
	}
}

// converse has two ranks answer each frame with one or two, until so many were
// sent.
func (t *trial) converse(w *world, budget int) {
	there, back := w.join(w.pair())
	answer := func(p *port) func(*shipment) {
		return func(*shipment) {
			var specs []spec
			t.mu.Lock()
			for range 1 + t.noise.IntN(2) {
				if budget > 0 {
					budget--
					specs = append(specs, w.randomSpec(64<<10))
				}
			}
			t.mu.Unlock()
			p.queue(specs...)
		}
	}
	t.mu.Lock()
	there.react, back.react = answer(there), answer(back)
	t.mu.Unlock()
	there.post(w.randomSpecs(20, 64<<10)...)
	back.post(w.randomSpecs(20, 64<<10)...)
	if w.attr.Reliable {
		t.await(ruleReliable, "all frames that answer others to be sent", func() bool { return budget == 0 })
	}
}
