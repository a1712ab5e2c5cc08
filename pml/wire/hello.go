package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/pml/credit"
)

// Hello is what a process tells of itself: to every peer when a connection comes
// up, and in the job's key-value space to whoever wants to connect.
type Hello struct {
	Credit  uint32                // granted at first, in units
	Traits  representation.Traits // how it has values in memory
	Host    string
	Modules []Module
}

// Module is one transport that a process has, and where it is to be found.
type Module struct {
	Component string
	Address   []byte
}

const (
	// helloVersion is not 3, which is the record's: nobody takes one for the other.
	helloVersion = 6
	// MaxHello is the largest encoded hello in bytes (package btl).
	MaxHello = 4096
)

// Fit leaves out transports whose addresses have no room, those that are to come last
// first, and returns their names. With none the rest is short enough.
func (h *Hello) Fit() (left []string) {
	for len(h.Modules) > 0 && (len(h.Modules) > 255 || h.size() > MaxHello) {
		last := len(h.Modules) - 1
		left = append(left, h.Modules[last].Component)
		h.Modules = h.Modules[:last]
	}
	return left
}

// size is how many bytes Encode makes of it.
func (h *Hello) size() int {
	n := 1 + 4 + 1 + 1 + min(len(h.Host), 255) + 1
	for _, m := range h.Modules {
		n += 1 + len(m.Component) + 2 + len(m.Address)
	}
	return n
}

// Encode writes h, which fits (see [Hello.Fit]), as docs/WIRE.md describes it.
func (h *Hello) Encode() ([]byte, error) {
	b := []byte{helloVersion}
	b = binary.LittleEndian.AppendUint32(b, h.Credit)
	b = append(b, byte(h.Traits))
	b = appendShort(b, []byte(h.Host[:min(len(h.Host), 255)]))
	b = append(b, byte(len(h.Modules)))
	for _, m := range h.Modules {
		if len(m.Component) > 255 {
			return nil, fmt.Errorf("transport with a name of %d bytes, more than the 255 that a hello holds", len(m.Component))
		}
		b = appendShort(b, []byte(m.Component))
		b = binary.LittleEndian.AppendUint16(b, uint16(len(m.Address)))
		b = append(b, m.Address...)
	}
	return b, nil
}

func appendShort(b, s []byte) []byte { return append(append(b, byte(len(s))), s...) }

var errShortHello = errors.New("it ends too early")

// DecodeHello reads a hello from the network. The result refers to b's memory in
// the addresses only.
func DecodeHello(b []byte) (*Hello, error) {
	if len(b) > MaxHello {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(b), MaxHello)
	}
	r := reader{b: b}
	if v := r.byte(); r.err == nil && v != helloVersion {
		return nil, fmt.Errorf("it has version %d, not %d: all processes must run the same version", v, helloVersion)
	}
	h := &Hello{Credit: r.uint32(), Traits: representation.Traits(r.byte())}
	h.Host = string(r.bytes(int(r.byte())))
	for n := r.byte(); n > 0 && r.err == nil; n-- {
		m := Module{Component: string(r.bytes(int(r.byte())))}
		m.Address = r.bytes(int(r.uint16()))
		h.Modules = append(h.Modules, m)
	}
	if r.err == nil && len(r.b) > 0 {
		return nil, fmt.Errorf("%d bytes follow its end", len(r.b))
	}
	if h.Credit > credit.Most {
		return nil, fmt.Errorf("it grants %d units of credit", h.Credit)
	}
	if !h.Traits.Valid() {
		return nil, fmt.Errorf("it tells of unknown traits %#x", byte(h.Traits))
	}
	return h, r.err
}

// Address returns what a component published, or nil.
func (h *Hello) Address(component string) (address []byte, found bool) {
	for _, m := range h.Modules {
		if m.Component == component {
			return m.Address, true
		}
	}
	return nil, false
}

// reader takes bytes from the front of b until there are too few.
type reader struct {
	b   []byte
	err error
}

func (r *reader) bytes(n int) []byte {
	if r.err != nil || n > len(r.b) {
		r.err = errShortHello
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) byte() byte {
	if v := r.bytes(1); v != nil {
		return v[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if v := r.bytes(2); v != nil {
		return binary.LittleEndian.Uint16(v)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if v := r.bytes(4); v != nil {
		return binary.LittleEndian.Uint32(v)
	}
	return 0
}
