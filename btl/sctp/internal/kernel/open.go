//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/sctpsock"
	"github.com/strandmp/strand/wireup"
)

const (
	// The socket's buffers, in bytes, before the kernel doubles them. All peers share
	// them. The send buffer takes only as much memory as is under way.
	defaultSendBuffer, defaultReceiveBuffer = 16 << 20, 4 << 20
	// backlog bounds the associations that peers have begun and from which nothing was
	// read yet.
	backlog = 4096
	// initPause is the longest pause between two attempts (INITs) to associate. The
	// kernel makes some more than fit into the time that an association may take. So
	// this package's timer gives up first, and a failure that the kernel tells is a
	// refusal by the peer.
	initPause = time.Second
)

// Open opens the socket and listens. Where the kernel has no SCTP the error is an
// [*sctpsock.UnavailableError].
func Open(cfg stack.Config) (stack.Stack, error) {
	if err := supported(cfg.Tuning); err != nil {
		return nil, err
	}
	o, err := options(cfg.Tuning)
	if err != nil {
		return nil, err
	}
	if err := checkEncapsulation(cfg.EncapPort); err != nil {
		return nil, err
	}
	sock, err := sctpsock.Open(o)
	if err != nil {
		return nil, unsupported(err)
	}
	k := &kernel{cfg: cfg, sock: sock, assocs: make(map[sctpsock.AssocID]*association), buf: make([]byte, readSize)}
	if err := k.open(); err != nil {
		k.sock.Close()
		return nil, err
	}
	return k, nil
}

// supported names the first thing asked for that no kernel can do.
func supported(t stack.Tuning) error {
	if sctpsock.Check() != nil {
		return nil // the reason for doing without is that
	}
	can := func(parameter, why string) error {
		return &stack.UnsupportedError{Parameter: parameter, Stack: "kernel", Able: "user", Why: why}
	}
	switch {
	case t.Congestion == "cubic":
		return can("congestion", "it has that of RFC 9260 only")
	case t.Multipath:
		return can("cmt", "it sends over one path at a time")
	case t.ZeroChecksum:
		return can("zero_checksum", "it always has a checksum")
	}
	return nil
}

// ownEncapPort is where the kernel says which UDP port it sends SCTP from and
// receives it at.
const ownEncapPort = "/proc/sys/net/sctp/udp_port"

// checkEncapsulation refuses UDP where the kernel has no port for it: packets
// would go out, and nothing would come back.
func checkEncapsulation(port int) error {
	if port == 0 || sctpsock.Check() != nil {
		return nil
	}
	text, err := os.ReadFile(ownEncapPort)
	if err == nil && strings.TrimSpace(string(text)) != "0" {
		return nil
	}
	why := "Linux 5.11 or later has it"
	if err == nil {
		why = "sysctl net.sctp.udp_port is 0: set it, to 9899 say, before the program starts"
	}
	return &stack.UnsupportedError{Parameter: "encap_port", Stack: "kernel", Why: why, Able: "user"}
}

func (k *kernel) open() error {
	if err := k.sizeRoom(); err != nil {
		return err
	}
	// The one socket is bound to all the addresses at once.
	bind := func(all []netip.Addr, port uint16) (struct{}, uint16, error) {
		got, err := k.sock.Bind(all, port)
		return struct{}{}, got, err
	}
	var err error
	if _, k.port, err = wireup.Bind(k.cfg.Ports, fmt.Sprint(k.cfg.Local), [][]netip.Addr{k.cfg.Local}, bind, func(struct{}) {}); err != nil {
		return err
	}
	if err := k.sock.Listen(backlog); err != nil {
		return err
	}
	k.watch, err = k.cfg.Loop.Watch(k.sock.FD(), k)
	return err
}

var schedulers = map[string]sctpsock.Scheduler{
	"": sctpsock.FirstCome, "fcfs": sctpsock.FirstCome, "prio": sctpsock.Priority,
	"rr": sctpsock.RoundRobin, "fc": sctpsock.Fair, "wfq": sctpsock.FairWeighted,
}

// options turns what the parameters say into the socket's options.
func options(t stack.Tuning) (sctpsock.Options, error) {
	scheduler, ok := schedulers[t.Scheduler]
	if !ok {
		return sctpsock.Options{}, fmt.Errorf("scheduler %q: the kernel has fcfs, prio and rr, and later ones fc and wfq", t.Scheduler)
	}
	o := sctpsock.Options{
		SendBuffer: cmp.Or(t.SendBuffer, defaultSendBuffer), ReceiveBuffer: cmp.Or(t.ReceiveBuffer, defaultReceiveBuffer),
		Streams: t.Streams, InitAttempts: int(t.ConnectTimeout/initPause) + 8, InitTimeout: initPause,
		NoDelay:    !t.Delay,
		RTOInitial: t.RTOInitial, RTOMin: t.RTOMin, RTOMax: t.RTOMax,
		AssocMaxRetrans: t.AssocMaxRetrans, PathMaxRetrans: t.PathMaxRetrans, Heartbeat: t.Heartbeat,
		Autoclose: t.Autoclose,
		// A long message that arrives in pieces must not hold up other peers.
		FragmentInterleave: 1,
		Interleave:         t.Interleave, Scheduler: scheduler, EncapPort: uint16(t.EncapPort),
		Events: []sctpsock.Kind{sctpsock.AssocChange, sctpsock.PeerAddrChange, sctpsock.PartialDelivery},
	}
	if t.Interleave {
		o.FragmentInterleave = 2 // nor other streams of the same peer
	}
	return o, nil
}

// parameters are the parameters behind the options that a kernel may refuse.
var parameters = map[string]string{
	"SCTP_INTERLEAVING_SUPPORTED": "interleave", "SCTP_STREAM_SCHEDULER": "scheduler",
	"SCTP_REMOTE_UDP_ENCAPS_PORT": "encap_port", "SCTP_AUTOCLOSE": "autoclose", "SCTP_RTOINFO": "rto_min",
}

// unsupported names the parameter that the kernel can not do.
func unsupported(err error) error {
	var o *sctpsock.OptionError
	if !errors.As(err, &o) || parameters[o.Option] == "" {
		return err
	}
	u := &stack.UnsupportedError{Parameter: parameters[o.Option], Stack: "kernel", Why: o.Error()}
	if u.Parameter == "interleave" || u.Parameter == "scheduler" {
		u.Able = "user"
	}
	return u
}
