package messages_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// crossing are the transports and limits with which sends cross. None of them is to decide whether a
// program that sends first and receives then goes on.
func crossing() map[string][]strand.Option {
	all := map[string][]strand.Option{"tcp": {strand.WithParam("btl", "tcp,self")}}
	if runtime.GOOS == "linux" {
		all["sm"] = []strand.Option{strand.WithParam("btl", "sm,self")}
		all["sm, no copies"] = []strand.Option{strand.WithParam("btl", "sm,self"), strand.WithParam("pml_copy_limit", "0")}
		all["sm and tcp"] = []strand.Option{strand.WithParam("btl", "sm,tcp,self"), strand.WithParam("btl_sm_exclusivity", "1"), strand.WithParam("btl_tcp_exclusivity", "1")}
	}
	return all
}

// A message that is sent at once, as there is credit for it, needs no receive: not if the send waits
// for an acknowledgement, nor if the peer's program computes and never calls the library, also where
// that computation has the only processor.
func TestSendsDoNotWaitForReceives(t *testing.T) {
	sizes := []int{0, 1, 4096, 4097, 8192, 65_536}
	for name, opts := range crossing() {
		for _, processors := range []int{1, runtime.GOMAXPROCS(0)} {
			t.Run(fmt.Sprintf("%s, %d processors", name, processors), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				w, ctx := world.Open(t, 2, opts...), world.Context(t)
				meet(ctx, t, w)
				for from := range w {
					compute, stop := context.WithCancel(ctx)
					go func() {
						for compute.Err() == nil { // without a call of the library
						}
					}()
					for tag, n := range sizes {
						require.NoError(t, w[from].Comm().Send(ctx, world.Pattern(n, tag), 1-from, tag))
					}
					stop()
				}
				for from := range w {
					for tag, n := range sizes {
						buf := make([]byte, n)
						_, err := w[1-from].Comm().Recv(ctx, buf, from, tag)
						require.NoError(t, err)
						world.Equal(t, world.Pattern(n, tag), buf, "%d bytes", n)
					}
				}
			})
		}
	}
}

// meet has the two ranks connect.
func meet(ctx context.Context, t *testing.T, w []*strand.World) {
	done := make(chan error, len(w))
	for _, one := range w {
		go func() { done <- one.Comm().Barrier(ctx) }()
	}
	for range w {
		require.NoError(t, <-done)
	}
}
