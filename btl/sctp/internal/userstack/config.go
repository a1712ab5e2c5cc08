package userstack

import (
	"cmp"
	"time"

	"github.com/pion/sctp"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
)

// config is the stack's configuration with its own defaults.
type config struct{ stack.Config }

// Defaults.
const (
	defaultBuffer    = 4 << 20
	defaultHeartbeat = 30 * time.Second // RFC 9260, 16, as the others
	defaultRetrans   = 10
	defaultRTO       = time.Second
	defaultRTOMax    = 60 * time.Second
)

func configure(c stack.Config) (*config, error) {
	if err := supported(c.Tuning); err != nil {
		return nil, err
	}
	c.SendBuffer, c.ReceiveBuffer = cmp.Or(c.SendBuffer, defaultBuffer), cmp.Or(c.ReceiveBuffer, defaultBuffer)
	c.Heartbeat = cmp.Or(c.Heartbeat, defaultHeartbeat)
	c.AssocMaxRetrans = cmp.Or(c.AssocMaxRetrans, defaultRetrans)
	c.RTOInitial, c.RTOMax = cmp.Or(c.RTOInitial, defaultRTO), cmp.Or(c.RTOMax, defaultRTOMax)
	return &config{c}, nil
}

// supported names the first thing asked for that this stack can not do.
func supported(t stack.Tuning) error {
	can := func(parameter, why string) error {
		return &stack.UnsupportedError{Parameter: parameter, Stack: "user", Able: "kernel", Why: why}
	}
	own := func(parameter, why string) error {
		return &stack.UnsupportedError{Parameter: parameter, Stack: "user", Able: "own", Why: why}
	}
	switch {
	case t.Congestion == "cubic":
		return own("congestion", "it has that of RFC 9260 only")
	case t.Multipath:
		return own("cmt", "an association has one path")
	case t.ZeroChecksum:
		return own("zero_checksum", "it always has a checksum")
	case t.Delay:
		return can("nodelay", "it sends whatever it has")
	case t.RTOMin != 0:
		return can("rto_min", "its shortest time is 1s, with probes before that")
	case t.PathMaxRetrans != 0:
		return can("path_max_retrans", "an association has one path")
	case t.Autoclose != 0:
		return can("autoclose", "it does not look for idle associations")
	}
	switch t.Scheduler {
	case "":
		return nil
	case "fcfs":
		if t.Interleave {
			return &stack.UnsupportedError{Parameter: "scheduler", Stack: "user", Why: "with interleaving streams take turns: btl_sctp_interleave=off"}
		}
		return nil
	case "rr", "wfq", "prio":
		if !t.Interleave {
			return &stack.UnsupportedError{Parameter: "scheduler", Stack: "user", Why: "without interleaving there is only fcfs: btl_sctp_interleave=on"}
		}
		return nil
	}
	return can("scheduler", "it knows fcfs, rr, wfq and prio")
}

// options of pion for one association.
func (c *config) options(mtu int) []sctp.ClientOption {
	opts := []sctp.ClientOption{
		sctp.WithMTU(uint32(mtu)),
		sctp.WithMaxReceiveBufferSize(uint32(c.ReceiveBuffer)),
		sctp.WithMaxMessageSize(uint32(c.MaxMessage)),
		sctp.WithRTOMax(float64(c.RTOMax / time.Millisecond)),
		sctp.WithEnableInterleaving(c.Interleave),
	}
	return append(opts, sctp.WithInterleavingOptions(c.scheduling()...))
}
