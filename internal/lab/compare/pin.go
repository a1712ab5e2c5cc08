package compare

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/sctpsock"
	"github.com/strandmp/strand/param"
)

// Pins are the parameters that all variants share, as far as a transport has such a parameter. So
// a difference between transports is not one between their settings.
type Pins struct {
	// Congestion is the algorithm of kernels that let a socket choose it; "": left to
	// the kernel.
	Congestion string
	// Buffer is the size of send and receive buffers in bytes; 0: left to each
	// transport.
	Buffer int64
	// Patience is how long a connection may take to be made, a peer be silent and a world be closed, if that is longer than usual;
	// 0: all that is as usual.
	Patience time.Duration
	// Common are parameters by full name.
	Common map[string]string
}

// maxBuffer is what parameters of transports take.
const maxBuffer = 1 << 30

func (p Pins) check() error {
	if p.Buffer < 0 || p.Buffer > maxBuffer {
		return fmt.Errorf("--buffers %d: want up to %s, or auto", p.Buffer, param.FormatSize(maxBuffer))
	}
	return nil
}

// ipUDP is the headers below a transport over UDP.
const ipUDP = 20 + 8

// params returns all parameters of a variant's ranks.
func (p Pins) params(v Variant, mtu int, transports *btl.Registry) map[string]string {
	declared := param.NewRegistry()
	strand.Declare(declared, transports)
	all := map[string]string{}
	for name, value := range map[string]string{
		"congestion": p.Congestion, "nodelay": "true",
		"sndbuf": size(p.Buffer), "rcvbuf": size(p.Buffer),
		"mtu":             strconv.Itoa(mtu - ipUDP),
		"connect_timeout": duration(p.Patience), "handshake_timeout": duration(p.Patience),
	} {
		full := "btl_" + v.BTL + "_" + name
		if spec := lookup(declared, full); spec != nil && value != "" && allows(*spec, value) {
			all[full] = fitting(*spec, value)
		}
	}
	for full, least := range map[string]time.Duration{
		"pml_peer_timeout":  silences * p.Patience,
		"pml_close_timeout": p.Patience, "btl_" + v.BTL + "_timeout": p.Patience,
	} {
		if spec := lookup(declared, full); spec != nil && least > usual(spec) {
			all[full] = fitting(*spec, duration(least))
		}
	}
	maps.Copy(all, p.Common)
	maps.Copy(all, v.Params)
	for _, name := range []string{sctpCongestion, sctpMTU} {
		if v.Params[name] == "" && p.Common[name] == "" && kernelSCTP(all["btl_sctp_stack"]) {
			delete(all, name)
		}
	}
	all["btl"] = v.BTL + "," + toOneself
	return all
}

// What can be chosen for SCTP in user space. The kernel's has the congestion control of RFC 9260 only, finds out
// by itself how long packets may be, and says so to who asks for something else.
const (
	sctpCongestion = "btl_sctp_congestion"
	sctpMTU        = "btl_sctp_mtu"
)

// kernelSCTP reports whether a stack of SCTP, as the parameter names it, is the kernel's.
func kernelSCTP(stack string) bool {
	return stack == "kernel" || stack != "user" && sctpsock.Check() == nil
}

// allows reports whether a parameter can have the value: a transport with a congestion control of
// its own has fewer than the kernel.
func allows(spec param.Spec, value string) bool {
	return spec.Kind != param.Enum || slices.Contains(spec.Choices, value)
}

func size(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return param.FormatSize(bytes)
}

// silences is how many times as long as a connection may take to be made a peer may be silent. It is silent while it connects, and
// after half of that time a connection is made anew.
const silences = 4

// usual is how long a parameter's default is.
func usual(spec *param.Spec) time.Duration {
	d, _ := time.ParseDuration(spec.Default) // it was declared with one
	return d
}

func duration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func lookup(declared *param.Registry, name string) *param.Spec {
	for _, spec := range declared.Specs() {
		if spec.Name == name {
			return &spec
		}
	}
	return nil
}

// fitting keeps a number below what a parameter may be at most.
func fitting(spec param.Spec, value string) string {
	read := amount(spec.Kind)
	number, err := read(value)
	most, noMost := read(spec.Max)
	if err == nil && noMost == nil && number > most {
		return spec.Max
	}
	return value
}

// amount is how values of a kind are read. A size counts like a number: a transport whose buffers have a bound
// of its own has the largest that it takes, which the results say, and is not left out.
func amount(kind param.Kind) func(string) (int64, error) {
	switch kind {
	case param.Int:
		return func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }
	case param.Size:
		return param.ParseSize
	case param.Duration:
		return func(s string) (int64, error) {
			d, err := time.ParseDuration(s)
			return int64(d), err
		}
	}
	return func(string) (int64, error) { return 0, strconv.ErrSyntax }
}

// Sizes of buffers: the one that transports with buffers of their own choose, and one below which
// a buffer is a bottleneck and little else.
const (
	usualBuffer = 4 << 20
	leastBuffer = 1 << 20
)

// Buffer returns the buffer size in bytes that all transports can have here: 4 MB, or what the
// system lets a socket have if that is less. Below 1 MB it returns 0, which leaves the size to
// each transport: so small a buffer would hold up those that have the system's buffers only.
func Buffer() int64 {
	fd, err := rawio.Stream(anyAddress)
	if err != nil {
		return 0
	}
	defer rawio.Close(fd)
	size := usualBuffer
	for _, buffer := range []struct {
		set func(fd, n int) error
		get func(fd int) (int, error)
	}{{rawio.SetSendBuffer, rawio.SendBuffer}, {rawio.SetReceiveBuffer, rawio.ReceiveBuffer}} {
		// The system may give less than was asked for, and does not say so.
		if err := buffer.set(fd, usualBuffer); err != nil {
			return 0
		}
		got, err := buffer.get(fd)
		if err != nil {
			return 0
		}
		size = min(size, got)
	}
	if size < leastBuffer {
		return 0
	}
	return int64(size)
}
