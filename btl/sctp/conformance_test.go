package sctp

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/param"
)

// subject is the user stack. Short heartbeats and timeouts, so that a peer that is cut off is missed soon.
func subject(c Component, more ...param.Setting) conformance.Factory {
	return subjectWith(c, "12", more...) // a slow machine is no dead peer: this is 3 s of silence
}

func subjectWith(c Component, retransmissions string, more ...param.Setting) conformance.Factory {
	return func() conformance.Subject {
		return conformance.Subject{
			Component: c,
			Settings: append([]param.Setting{
				with(pStack, "user"),
				with(pConnectTimeout, "10s"),
				with(pHandshakeTimeout, "10s"),
				with(pHeartbeat, "150ms"),
				with(pRTOMin, "50ms"),
				with(pRTOInitial, "100ms"),
				with(pRTOMax, "300ms"), // each heartbeat in vain doubles the wait for the next one
				with(pAssocMaxRetrans, retransmissions),
			}, more...),
			Sever: sever,
		}
	}
}

// The whole suite over the user stack.
func TestConformanceUser(t *testing.T) { conformance.Run(t, subject(Component{})) }

// A bad network: of a hundred packets five are lost, five come late, one comes twice, and one is damaged, which is for
// the checksum to find.
func badly(seed uint64) func() func([]byte, func([]byte)) {
	return func() func([]byte, func([]byte)) {
		r := rand.New(rand.NewPCG(seed, 1))
		var late []func()
		return func(b []byte, take func([]byte)) {
			chance := r.IntN(100)
			kept := bytes.Clone(b)
			switch {
			case chance < 5:
				return
			case chance < 10:
				late = append(late, func() { take(kept) })
				return
			case chance < 11:
				take(kept)
			case chance < 12:
				kept[r.IntN(len(kept))] ^= 1
				take(kept)
				return
			}
			take(b)
			if len(late) > 0 && r.IntN(4) == 0 {
				come := late
				late = nil
				for _, f := range come {
					f()
				}
			}
		}
	}
}

func TestConformanceOverABadNetwork(t *testing.T) {
	cases := []string{"sizes", "released", "exactly-once", "goodbye"}
	if need.Soaking() {
		cases = append(cases, "vectors", "lane-order", "revoke", "connect-both", "hello", "close-busy", "all-to-all", "dialogue")
	}
	conformance.Run(t, subjectWith(Component{meddle: badly(1)}, "20", with(pLoopbackMTU, "1440")), conformance.Only(cases...))
}

// The same over the kernel's SCTP.
func TestKernelConformance(t *testing.T) {
	need.KernelSCTP(t)
	conformance.Run(t, func() conformance.Subject {
		return conformance.Subject{
			Component: Component{},
			Settings: []param.Setting{
				with(pStack, "kernel"),
				with(pConnectTimeout, "5s"),
				with(pHandshakeTimeout, "5s"),
				with(pRTOInitial, "200ms"),
				with(pRTOMin, "100ms"),
				with(pHeartbeat, "200ms"),
			},
			Sever: sever,
		}
	}, conformance.Timeout(60*time.Second))
}

func with(name, text string) param.Setting {
	return param.Setting{Name: name, Text: text, Source: param.Source{Kind: param.Option, Where: "test"}}
}

var errNotUp = errors.New("the endpoint is not connected")

func sever(ep btl.Endpoint) error {
	e, ok := ep.(*endpoint)
	if !ok || e.link == nil {
		return errNotUp
	}
	e.link.assoc.Sever()
	return nil
}
