package conformance

var trafficCases = []testCase{
	{"all-to-all", "Eight ranks send to each other at random, all at once.", checkAllToAll},
	{"dialogue", "Heavy traffic in both directions, most of it sent from within up-calls.", checkDialogue},
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
	for range 6 {
		t.rng.Shuffle(len(ports), func(i, j int) { ports[i], ports[j] = ports[j], ports[i] })
		for _, p := range ports {
			p.post(w.randomSpecs(1+t.rng.IntN(6), 128<<10)...)
		}
	}
}

func checkDialogue(t *trial) {
	w := t.open(2)
	there, back := w.join(w.pair())
	budget := 4000
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
		t.await(ruleReliable, "4000 frames that answer others to be sent", func() bool { return budget == 0 })
	}
}
