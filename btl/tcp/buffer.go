package tcp

import (
	"fmt"

	"github.com/strandmp/strand/btl"
)

// A buffer is one of the two buffers that the system has for a connection, and the size that
// the user wants for it.
type buffer struct {
	size    int // bytes; 0 leaves it to the system
	setting string
	limit   string // the sysctl that bounds it, on Linux
	set     func(fd, n int) error
	get     func(fd int) (int, error)
}

// setBuffers sets both sizes. They are set on listeners too: an accepted socket inherits them,
// and only so are they there when the window scale is agreed on.
func (c *config) setBuffers(fd int) error {
	for _, b := range []*buffer{&c.sndbuf, &c.rcvbuf} {
		if b.size == 0 {
			continue
		}
		if err := b.set(fd, b.size); err != nil {
			return fmt.Errorf("%s: %w", b.setting, err)
		}
	}
	return nil
}

// checkBuffers tries on a socket the sizes that the user wants, and warns if it gets less. The
// system cuts them to its limit without a word.
func (m *module) checkBuffers(fd int) error {
	if err := m.cfg.setBuffers(fd); err != nil {
		return err
	}
	for _, b := range []*buffer{&m.cfg.sndbuf, &m.cfg.rcvbuf} {
		if b.size == 0 {
			continue
		}
		got, err := b.get(fd)
		if err != nil {
			return err
		}
		if got < b.size {
			m.Host.Logf(btl.LogWarn, "tcp: rank %d: %s: asked for %d bytes, got %d: the kernel allows no more (raise it with sysctl -w %s=%d, or leave the size to the system with 0)",
				m.Host.Rank(), b.setting, b.size, got, b.limit, b.size)
		}
	}
	return nil
}
