package udp

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/param"
)

func with(name, text string) param.Setting {
	return param.Setting{Name: name, Text: text, Source: param.Source{Kind: param.Option, Where: "test"}}
}

func subject(more ...param.Setting) conformance.Factory { return subjectOf(Component{}, more...) }

func subjectOf(c Component, more ...param.Setting) conformance.Factory {
	return patient(c, "2s", more...) // one that waits for a processor is silent too
}

// patient gives a peer up after a silence of that length.
func patient(c Component, timeout string, more ...param.Setting) conformance.Factory {
	return func() conformance.Subject {
		return conformance.Subject{
			Component: c,
			Settings: append([]param.Setting{
				with(prefixOfAll+"connect_timeout", "2s"),
				with(prefixOfAll+"handshake_timeout", "2s"),
				with(prefixOfAll+"connect_retries", "2"),
				with(pTimeout, timeout),
				with(pHeartbeat, "100ms"),
			}, more...),
			Sever: sever,
		}
	}
}

// sever has the connection hear and say nothing any more.
func sever(ep btl.Endpoint) error {
	e, ok := ep.(*endpoint)
	if !ok || e.link == nil {
		return errors.New("the endpoint is not connected")
	}
	e.link.severed = true
	return nil
}

func TestConformance(t *testing.T) { conformance.Run(t, subject()) }

// Protected packets, the cases that have to do with how frames travel and connections end; all of them in
// a long run.
func TestConformanceProtected(t *testing.T) {
	need.CI(t, "it repeats what the cases over plain packets show")
	var opts []conformance.Option
	if !need.Soaking() {
		opts = append(opts, conformance.Only("sizes", "vectors", "stutter", "released", "revoke", "late-bytes", "refusal",
			"goodbye", "close-busy", "close-both", "peer-dies-sending", "connect-both", "exactly-once", "dialogue"))
	}
	for _, how := range []string{"authenticated", "encrypted"} {
		t.Run(how, func(t *testing.T) { conformance.Run(t, subject(with(pProtect, how)), opts...) })
	}
}

// Packets as short as on a network, in the place of the loopback's.
func TestConformanceShortPackets(t *testing.T) {
	cases := []string{"sizes", "headers", "vectors", "lane-order", "stutter", "released", "landing", "revoke", "late-bytes", "exactly-once", "dialogue"}
	if need.Thorough() {
		cases = append(cases, "all-to-all", "production", "leak-memory")
	}
	conformance.Run(t, subject(with(pPacket, "1400")), conformance.Only(cases...))
}

// A bad network: of a hundred packets five are lost, five come late, one comes twice, and one is damaged,
// which is for the guard, or a proof, to find.
func badly(r *rand.Rand) func([]byte, func([]byte)) {
	var mu sync.Mutex // the ranks of the suite share the component
	return func(b []byte, take func([]byte)) {
		mu.Lock()
		chance, at := r.IntN(100), r.IntN(len(b))
		mu.Unlock()
		switch {
		case chance < 5:
			return
		case chance < 6:
			take(bytes.Clone(b))
		case chance < 7:
			damaged := bytes.Clone(b)
			damaged[at] ^= 1
			take(damaged)
			return
		}
		take(b)
	}
}

func TestConformanceOverABadNetwork(t *testing.T) {
	cases := []string{"sizes", "released", "exactly-once", "goodbye"}
	if need.Soaking() {
		cases = append(cases, "vectors", "lane-order", "revoke", "connect-both", "hello", "close-busy", "all-to-all", "dialogue")
	}
	seed := rand.Uint64()
	t.Logf("the network's seed: %#x", seed)
	bad := Component{meddle: badly(rand.New(rand.NewPCG(seed, 1)))}
	// Of eight questions one finds no answer: in 500 ms there are five, and in one run of a thousand none of them would.
	conformance.Run(t, patient(bad, "3s", with(pPacket, "1400"), with(pProtect, "authenticated")),
		conformance.Only(cases...))
}
