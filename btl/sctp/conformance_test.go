package sctp

import (
	"errors"
	"testing"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/param"
)

// The whole suite over the user stack. Short heartbeats and timeouts, so that a peer that is
// cut off is missed soon.
func TestConformanceUser(t *testing.T) {
	conformance.Run(t, func() conformance.Subject {
		return conformance.Subject{
			Component: Component{},
			Settings: []param.Setting{
				with(pStack, "user"),
				with(pConnectTimeout, "10s"),
				with(pHandshakeTimeout, "10s"),
				with(pHeartbeat, "150ms"),
				with(pRTOMin, "50ms"),
				with(pRTOInitial, "100ms"),
				with(pRTOMax, "300ms"),      // each heartbeat in vain doubles the wait for the next one
				with(pAssocMaxRetrans, "7"), // a slow machine is no dead peer
			},
			Sever: sever,
		}
	})
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
