package wireup

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/strandmp/strand/internal/handshake"
)

// A Greeting is what each side tells about itself in the handshake, once the other has
// proved to belong to the job:
//
//	0    4  the largest payload it will send in one frame
//	4    n  the transport's own, n the same for both sides
//	4+n  1  length of its host name, at most 255
//	5+n     its host name, and behind it the host's own hello ([btl.Host])
type Greeting struct {
	MaxFrame int
	Own      []byte
	Host     string
	Hello    []byte // at most 4096 bytes
}

const maxHello = 4096

// Encode returns its bytes.
func (g Greeting) Encode() []byte {
	host := cutTo(g.Host, 255)
	b := make([]byte, 0, 5+len(g.Own)+len(host)+len(g.Hello))
	b = binary.LittleEndian.AppendUint32(b, uint32(g.MaxFrame))
	b = append(b, g.Own...)
	b = append(b, byte(len(host)))
	b = append(b, host...)
	return append(b, g.Hello...)
}

// ErrGreeting is the cause of every error of [Config.DecodeGreeting]: the bytes are not a greeting
// that this transport takes.
var ErrGreeting = errors.New("malformed greeting in the handshake")

// An unlikeError: a peer's settings do not go together with ours ([Config.Agrees]).
type unlikeError struct{ error }

// final reports whether another attempt would only fail in the same way. What proves nothing says nothing of the next
// attempt either, unless it is another version, which can not be proved.
func final(err error) bool {
	if e, unproved := errors.AsType[*unprovedError](err); unproved {
		return errors.Is(e.doubt, handshake.ErrVersion)
	}
	_, unlike := errors.AsType[*unlikeError](err)
	return unlike || handshake.Final(err) || errors.Is(err, ErrGreeting)
}

// unproved reports whether anything on the way may have caused a failure: a bit that was changed once. Only where the attempts that
// are left fail in the same way it is final.
func unproved(err error) bool {
	return errors.Is(err, handshake.ErrProof) || errors.Is(err, handshake.ErrMagic) || errors.Is(err, handshake.ErrFormat)
}

// greeted reads a peer's greeting and checks whether it goes together with ours.
func (m *Manager) greeted(rank int, b []byte) (Greeting, error) {
	g, err := m.DecodeGreeting(b)
	if err == nil && m.Agrees != nil {
		if err := m.Agrees(rank, g); err != nil {
			return g, &unlikeError{err}
		}
	}
	return g, err
}

// ourGreeting is what every peer is told in the handshake. It is made at the first need, since the
// host's hello is not known before the modules are open.
func (m *Manager) ourGreeting() []byte {
	if m.greeting == nil {
		m.greeting = Greeting{MaxFrame: cmp.Or(m.MaxFrame, int(m.frameLimit())), Own: m.Own, Host: m.host.Hostname(), Hello: m.host.Hello()}.Encode()
	}
	return m.greeting
}

// DecodeGreeting reads a peer's greeting. The result shares memory with b.
func (c *Config) DecodeGreeting(b []byte) (Greeting, error) {
	own := len(c.Own)
	if len(b) < 5+own {
		return Greeting{}, fmt.Errorf("%w: %d bytes", ErrGreeting, len(b))
	}
	size, limit := binary.LittleEndian.Uint32(b), c.frameLimit()
	if size == 0 || size > limit {
		return Greeting{}, fmt.Errorf("%w: frames of up to %d bytes, allowed are 1 to %d", ErrGreeting, size, limit)
	}
	g := Greeting{MaxFrame: int(size), Own: b[4 : 4+own]}
	if err := c.check(g.Own); err != nil {
		return Greeting{}, fmt.Errorf("%w: %w", ErrGreeting, err)
	}
	n, rest := int(b[4+own]), b[5+own:]
	if n > len(rest) || len(rest)-n > maxHello {
		return Greeting{}, fmt.Errorf("%w: host name of %d bytes in %d", ErrGreeting, n, len(rest))
	}
	g.Host, g.Hello = Plain(rest[:n]), rest[n:]
	return g, nil
}

func (c *Config) frameLimit() uint32 { return cmp.Or(uint32(c.FrameLimit), math.MaxInt32) }

func (c *Config) check(own []byte) error {
	if c.Check != nil {
		return c.Check(own)
	}
	if !bytes.Equal(own, c.Own) {
		return fmt.Errorf("% x instead of % x", own, c.Own)
	}
	return nil
}
