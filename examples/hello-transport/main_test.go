package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/strandtest"
)

// The program over its own transport, through the real message layer.
func TestGreet(t *testing.T) {
	var out bytes.Buffer
	strandtest.Run(t, 4, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 0 {
			return greet(ctx, w, &out)
		}
		return greet(ctx, w, io.Discard)
	}, strand.WithParam("btl", "unix,self"))
	for _, want := range []string{"hello from rank 3\n", "rank 1 is served by unix: @strand-", "rank 3 is served by unix: @strand-"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

// Long messages, in many frames and both ways at once.
func TestLong(t *testing.T) {
	strandtest.Run(t, 3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		n := c.Size()
		for _, size := range []int{0, 1, 16 << 10, 64<<10 + 1, 5 << 20} {
			sent, got := bytes.Repeat([]byte{byte(c.Rank())}, size), make([]byte, size)
			if _, err := c.Sendrecv(ctx, sent, (c.Rank()+1)%n, 1, got, (c.Rank()+n-1)%n, 1); err != nil {
				return err
			}
			if !bytes.Equal(got, bytes.Repeat([]byte{byte((c.Rank() + n - 1) % n)}, size)) {
				t.Errorf("rank %d: %d bytes differ", c.Rank(), size)
			}
		}
		return nil
	}, strand.WithParam("btl", "unix,self"))
}
