package strandtest_test

import (
	"context"
	"testing"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/strandtest"
)

// both has one goroutine have the worlds of two ranks that share memory, so that nothing is counted but
// what the library does.
func both(b *testing.B, do func(from, to *strand.Comm)) {
	worlds, done := make(chan *strand.World, 1), make(chan struct{})
	strandtest.Run(b, 2, func(ctx context.Context, w *strand.World) error {
		buf := make([]byte, 16)
		if err := repeat(steadyCase{round: pingPong}, w.Comm(), buf, 100); err != nil {
			return err
		}
		if w.Rank() == 1 {
			worlds <- w
			<-done
		} else {
			do(w.Comm(), (<-worlds).Comm())
			close(done)
		}
		return w.Comm().Barrier(ctx)
	}, strand.WithParam("btl", "sm"))
}

// BenchmarkCost is what a message of 8 B costs both ranks together, if neither waits for the other.
func BenchmarkCost(b *testing.B) {
	b.Run("window", func(b *testing.B) {
		both(b, func(from, to *strand.Comm) {
			out, in, answer := make([]byte, 8), make([]byte, 8), make([]byte, 4)
			var sends, receives [64]strand.Request
			b.ReportAllocs()
			b.ResetTimer()
			for range (b.N + 63) / 64 {
				for i := range receives {
					receives[i], _ = to.Irecv(in, 0, 1)
				}
				for i := range sends {
					sends[i], _ = from.Isend(out, 1, 1)
				}
				_ = strand.WaitAll(steady, sends[:], nil)
				_ = strand.WaitAll(steady, receives[:], nil)
				_ = to.Send(steady, answer, 0, 2)
				_, _ = from.Recv(steady, answer, 1, 2)
			}
			b.StopTimer()
		})
	})
	b.Run("single", func(b *testing.B) {
		both(b, func(from, to *strand.Comm) {
			buf := make([]byte, 8)
			b.ReportAllocs()
			b.ResetTimer()
			for range (b.N + 1) / 2 {
				_ = from.Send(steady, buf, 1, 1)
				_, _ = to.Recv(steady, buf, 0, 1)
				_ = to.Send(steady, buf, 0, 1)
				_, _ = from.Recv(steady, buf, 1, 1)
			}
			b.StopTimer()
		})
	})
}
