package wireup

import (
	"fmt"
	"time"

	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/reach"
)

// Names of the parameters of a transport about setting up connections, without the
// transport's prefix.
const (
	policy           = "reach"
	portMin          = "port_min"
	portRange        = "port_range"
	connectRetries   = "connect_retries"
	connectTimeout   = "connect_timeout"
	handshakeTimeout = "handshake_timeout"
)

// Settings are what a transport's parameters say about networks, ports and attempts.
type Settings struct {
	Prefix string // "btl_tcp_"
	Choice Choice
	Policy reach.Policy
	Ports  Ports
	// Retries is how many attempts to connect may fail.
	Retries                          int
	ConnectTimeout, HandshakeTimeout time.Duration
}

// readSettings reads the parameters of [AllParameters] that begin with the prefix. Warn is told of
// networks that are not there, where that is no mistake, and of ports.
func readSettings(v *param.Values, prefix string, warn func(error)) (*Settings, error) {
	s := &Settings{
		Prefix:           prefix,
		Choice:           ChoiceOf(v, prefix, warn),
		Retries:          v.Int(prefix + connectRetries),
		ConnectTimeout:   v.Duration(prefix + connectTimeout),
		HandshakeTimeout: v.Duration(prefix + handshakeTimeout),
	}
	var err error
	if s.Policy, err = reach.PolicyByName(v.String(prefix + policy)); err != nil {
		return nil, fmt.Errorf("%s: %w", v.Value(prefix+policy), err)
	}
	s.Ports, err = readPorts(v, prefix)
	s.Ports.warn = warn
	return s, err
}

// readPorts reads the range of ports.
func readPorts(v *param.Values, prefix string) (Ports, error) {
	first, count := v.Value(prefix+portMin), v.Value(prefix+portRange)
	p := Ports{First: v.Int(prefix + portMin), Count: v.Int(prefix + portRange), prefix: prefix}
	if p.First == 0 {
		if p.Count > 0 {
			return p, fmt.Errorf("%s has no meaning without %s: set both, or neither to let the system choose a port", count, prefix+portMin)
		}
		return p, nil
	}
	p.where = fmt.Sprintf("%v, %v", first, count)
	if p.Count == 0 {
		p.where = first.String()
	}
	if p.Count == 0 || p.First+p.Count > 65536 {
		p.Count = 65536 - p.First
	}
	return p, nil
}
