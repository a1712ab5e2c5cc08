package sctp

import (
	"encoding/binary"
	"net/netip"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// A greeting is an INIT or INIT ACK, read.
type greeting struct {
	chunk.Init
	addresses  addresses
	cookie     []byte
	interleave bool
	zero       uint32 // the method of finding errors with which it takes packets without a checksum
	longer     uint32 // ms that a cookie should live longer
	held       uint8  // ms for which it holds acknowledgements back at most; 0: it does not say
	unknown    bool   // it has parameters that its sender is to be told of
}

// A refusal is why something is answered with an ABORT or ERROR.
type refusal struct {
	cause uint16
	info  []byte
}

// read reads the parameters. A greeting that is refused is answered by an ABORT, or by silence if the cause
// is 0.
func (g *greeting) read(c chunk.Chunk) *refusal {
	var err error
	if g.Init, err = chunk.ParseInit(c); err != nil || g.Tag == 0 {
		return &refusal{}
	}
	if g.Window < leastWindow || g.Out == 0 || g.In == 0 {
		return &refusal{cause: chunk.CauseInvalidParameter}
	}
	fields := g.Parameters
	for f, ok := fields.Next(); ok; f, ok = fields.Next() {
		on, r := g.parameter(f)
		if r != nil {
			return r
		}
		if !on {
			return nil
		}
	}
	if !fields.Whole() {
		return &refusal{cause: chunk.CauseViolation, info: []byte("a parameter is cut off")}
	}
	return nil
}

// parameter reads a parameter. On says that further ones are to be looked at.
func (g *greeting) parameter(f chunk.Field) (on bool, r *refusal) {
	switch f.Code {
	case chunk.ParamIPv4, chunk.ParamIPv6:
		a, ok := f.Address()
		if !ok {
			return false, &refusal{cause: chunk.CauseViolation, info: []byte("an address of a wrong length")}
		}
		if usable(a) {
			g.addresses.add(a.Unmap())
		}
	case chunk.ParamCookie:
		g.cookie = f.Value
	case chunk.ParamHostName: // section 3.3.2.1.4
		return false, &refusal{cause: chunk.CauseUnresolvableAddress, info: f.Raw}
	case chunk.ParamZeroChecksum:
		g.zero, _ = f.Number()
	case chunk.ParamPreservative:
		g.longer, _ = f.Number()
	case chunk.ParamExtensions:
		for _, t := range f.Value {
			g.interleave = g.interleave || chunk.Type(t) == chunk.TypeInterleaved
		}
	case chunk.ParamAdaptation:
		if n, _ := f.Number(); n&^0xff == adaptation {
			g.held = uint8(n)
		}
	case chunk.ParamAddressTypes, chunk.ParamUnrecognized:
	default:
		var report bool
		on, report = f.Skip()
		g.unknown = g.unknown || report
		return on, nil
	}
	return true, nil
}

// usable reports whether an address can be a peer's.
func usable(a netip.Addr) bool {
	return !a.IsUnspecified() && !a.IsMulticast() && a != netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

// appendUnknown appends, at most so many bytes, the parameters that the sender of a greeting is to be told
// of, each within a parameter (INIT ACK).
func (g *greeting) appendUnknown(b []byte, most int) []byte {
	fields := g.Parameters
	end := len(b) + most
	for f, ok := fields.Next(); ok && g.unknown; f, ok = fields.Next() {
		on, report := true, false
		switch f.Code {
		case chunk.ParamIPv4, chunk.ParamIPv6, chunk.ParamCookie, chunk.ParamHostName, chunk.ParamZeroChecksum,
			chunk.ParamPreservative, chunk.ParamExtensions, chunk.ParamAdaptation, chunk.ParamAddressTypes, chunk.ParamUnrecognized:
		default:
			on, report = f.Skip()
		}
		if report && len(b)+fieldHeader+chunk.Padded(len(f.Raw)) <= end {
			b = chunk.AppendField(b, chunk.ParamUnrecognized, f.Raw)
		}
		if !on {
			break
		}
	}
	return b
}

const fieldHeader = 4

// adaptation is what we are, for peers like us: "STR", as in the protocol identifiers of messages, and in the last byte
// for how many ms we hold acknowledgements back. SCTP has a parameter for the number of what uses an association (RFC 5061,
// section 4.2.6). Kernels send 0 there. Who does not know the parameter goes on without it.
const adaptation = 0x53545200

// An offer is what we say of ourselves in an INIT or INIT ACK.
func (e *Endpoint) offer(b []byte, own []netip.Addr) []byte {
	for _, a := range own {
		b = chunk.AppendAddress(b, a)
	}
	if e.config.Interleave {
		b = chunk.AppendField(b, chunk.ParamExtensions, []byte{uint8(chunk.TypeInterleaved)})
	}
	if e.config.ZeroChecksum != 0 {
		b = chunk.AppendNumberField(b, chunk.ParamZeroChecksum, e.config.ZeroChecksum)
	}
	if held := e.config.Held; held != defaultHeld {
		b = chunk.AppendNumberField(b, chunk.ParamAdaptation, adaptation|uint32(held.Milliseconds()))
	}
	return b
}

// announced are the addresses of ours that a peer is told, which talks to one of them. What is of use on this machine
// or on one network only is not told to others (RFC 9260, section 5.1.2).
func announced(all []netip.Addr, to netip.Addr) []netip.Addr {
	if len(all) < 2 {
		return nil
	}
	var some []netip.Addr
	for _, a := range all {
		if a.IsLoopback() == to.IsLoopback() && !a.IsLinkLocalUnicast() && len(some) < mostAddresses {
			some = append(some, a.Unmap())
		}
	}
	return some
}

// stale is the value of the cause for a cookie that is too old: by how many microseconds (section 3.3.10.3).
func stale(by int64) []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(min(by/1000, 1<<32-1)))
}
