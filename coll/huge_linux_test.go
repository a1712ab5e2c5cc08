//go:build linux && !386 && !arm && !mips && !mipsle

package coll

import (
	"context"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A counter is a process that notes what it would send and receive, of a buffer that has addresses and
// no memory.
type counter struct {
	buf            []byte
	rank, size     int
	sent, received []span
}

type span struct{ from, to int }

func (c *counter) span(b []byte) span {
	at := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(c.buf))))
	return span{at, at + len(b)}
}

func (c *counter) Rank() int { return c.rank }
func (c *counter) Size() int { return c.size }

func (c *counter) Send(b []byte, _ int) error {
	c.sent = append(c.sent, c.span(b))
	return nil
}

func (c *counter) Recv(b []byte, _ int) error {
	c.received = append(c.received, c.span(b))
	return nil
}

func (c *counter) Wait(context.Context) error { return nil }
func (c *counter) Scratch(n int) []byte       { return make([]byte, n) }

// covered is how many bytes from the start of the buffer spans have, without a gap; those of the process itself
// are there.
func covered(spans []span, own span) int {
	all := append(slices.Clone(spans), own)
	slices.SortFunc(all, func(a, b span) int { return a.from - b.from })
	at := 0
	for _, s := range all {
		if s.from > at {
			break
		}
		at = max(at, s.to)
	}
	return at
}

// Buffers of more than 4 GB pass whole: no length and no place in them has 32 bits.
func TestBuffersBeyond4GB(t *testing.T) {
	const ranks, each = 4, 1<<30 + 1<<20 + 8
	buf, err := unix.Mmap(-1, 0, ranks*each, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	require.NoError(t, err)
	defer func() { assert.NoError(t, unix.Munmap(buf)) }()
	calls := map[string]func(c *counter, ch *Choice) error{
		"bcast": func(c *counter, ch *Choice) error { return Bcast(t.Context(), c, ch, buf, 1) },
		"allgather": func(c *counter, ch *Choice) error {
			return Allgather(t.Context(), c, ch, buf[c.rank*each:(c.rank+1)*each], buf)
		},
		"gather": func(c *counter, ch *Choice) error {
			return Gather(t.Context(), c, ch, buf[c.rank*each:(c.rank+1)*each], buf, 1)
		},
		"scatter": func(c *counter, ch *Choice) error {
			return Scatter(t.Context(), c, ch, buf, buf[c.rank*each:(c.rank+1)*each], 1)
		},
	}
	for name, by := range map[string][]string{
		"bcast": {"binomial", "scatter", "chain"}, "allgather": {"ring", "doubling"}, "gather": {"linear"}, "scatter": {"linear"},
	} {
		for _, algorithm := range by {
			for rank := range ranks {
				c := &counter{buf: buf, rank: rank, size: ranks}
				ch := &Choice{Bcast: algorithm, Allgather: algorithm, Gather: algorithm, Scatter: algorithm}
				require.NoError(t, calls[name](c, ch))
				own := span{rank * each, (rank + 1) * each}
				what := []any{"%s by %s, rank %d", name, algorithm, rank}
				switch {
				case name == "scatter" && rank == 1:
					assert.Equal(t, len(buf), covered(c.sent, own), what...)
				case name == "scatter":
					assert.Equal(t, []span{own}, c.received, what...)
				case name == "gather" && rank != 1:
					assert.Equal(t, []span{own}, c.sent, what...)
				case name == "bcast" && rank == 1:
					assert.Equal(t, len(buf), covered(c.sent, span{}), what...)
				case name == "bcast":
					assert.Equal(t, len(buf), covered(c.received, span{}), what...)
				default:
					assert.Equal(t, len(buf), covered(c.received, own), what...)
				}
			}
		}
	}
}
