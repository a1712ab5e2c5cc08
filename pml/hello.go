package pml

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/strandmp/strand/pml/credit"
)

// hello is what a process tells of itself: to every peer when a connection comes
// up, and in the job's key-value space to whoever wants to connect.
type hello struct {
	credit  uint32 // granted at first, in units
	host    string
	modules []moduleAddress
}

type moduleAddress struct {
	component string
	address   []byte
}

const (
	helloVersion = 1
	// maxHello is the largest encoded hello in bytes (package btl).
	maxHello = 4096
)

// fit leaves out transports whose addresses have no room, those that are to come last
// first, and returns their names. With none the rest is short enough.
func (h *hello) fit() (left []string) {
	for len(h.modules) > 0 && (len(h.modules) > 255 || h.size() > maxHello) {
		last := len(h.modules) - 1
		left = append(left, h.modules[last].component)
		h.modules = h.modules[:last]
	}
	return left
}

// size is how many bytes encodeHello makes of it.
func (h *hello) size() int {
	n := 1 + 4 + 1 + min(len(h.host), 255) + 1
	for _, m := range h.modules {
		n += 1 + len(m.component) + 2 + len(m.address)
	}
	return n
}

// encodeHello writes h, which fits, as docs/WIRE.md describes it.
func encodeHello(h *hello) ([]byte, error) {
	b := []byte{helloVersion}
	b = binary.LittleEndian.AppendUint32(b, h.credit)
	b = appendShort(b, []byte(h.host[:min(len(h.host), 255)]))
	b = append(b, byte(len(h.modules)))
	for _, m := range h.modules {
		if len(m.component) > 255 {
			return nil, fmt.Errorf("transport with a name of %d bytes, more than the 255 that a hello holds", len(m.component))
		}
		b = appendShort(b, []byte(m.component))
		b = binary.LittleEndian.AppendUint16(b, uint16(len(m.address)))
		b = append(b, m.address...)
	}
	return b, nil
}

func appendShort(b, s []byte) []byte { return append(append(b, byte(len(s))), s...) }

var errShortHello = errors.New("it ends too early")

// decodeHello reads a hello from the network. The result refers to b's memory in
// the addresses only.
func decodeHello(b []byte) (*hello, error) {
	if len(b) > maxHello {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(b), maxHello)
	}
	r := reader{b: b}
	if v := r.byte(); r.err == nil && v != helloVersion {
		return nil, fmt.Errorf("it has version %d, not %d: all processes must run the same version", v, helloVersion)
	}
	h := &hello{credit: r.uint32()}
	h.host = string(r.bytes(int(r.byte())))
	for n := r.byte(); n > 0 && r.err == nil; n-- {
		m := moduleAddress{component: string(r.bytes(int(r.byte())))}
		m.address = r.bytes(int(r.uint16()))
		h.modules = append(h.modules, m)
	}
	if r.err == nil && len(r.b) > 0 {
		return nil, fmt.Errorf("%d bytes follow its end", len(r.b))
	}
	if h.credit > credit.Most {
		return nil, fmt.Errorf("it grants %d units of credit", h.credit)
	}
	return h, r.err
}

// address returns what a component published, or nil.
func (h *hello) address(component string) (address []byte, found bool) {
	for _, m := range h.modules {
		if m.component == component {
			return m.address, true
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
