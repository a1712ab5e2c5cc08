package strandtest_test

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/strandtest"
)

// allToAll has each rank send a message to each other one, and receive one from each.
func allToAll(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	var requests []strand.Request
	out, in := make([]byte, 8), make([]byte, 8*c.Size())
	for k := 1; k < c.Size(); k++ {
		to, from := (c.Rank()+k)%c.Size(), (c.Rank()+c.Size()-k)%c.Size()
		receive, err := c.Irecv(in[8*k:8*k+8], from, 1)
		if err != nil {
			return err
		}
		send, err := c.Isend(out, to, 1)
		if err != nil {
			return err
		}
		requests = append(requests, receive, send)
	}
	return strand.WaitAll(ctx, requests, nil)
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFirstContact measures how long ranks that have not met take to meet all others at once,
// over TCP: from the first send to the last receive, and the processor's time of all ranks, which
// are goroutines of one process. With -benchtime 1x -count N the figures are those of each run.
func BenchmarkFirstContact(b *testing.B) {
	for _, ranks := range []int{2, 16, 64} {
		b.Run(fmt.Sprint(ranks), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				var ready sync.WaitGroup
				ready.Add(ranks)
				begin := make(chan struct{})
				var before time.Duration // the processor's, when they begin
				var mu sync.Mutex
				var first, last time.Time
				var used time.Duration // by then
				strandtest.Run(b, ranks, func(ctx context.Context, w *strand.World) error {
					if ready.Done(); w.Rank() == 0 {
						ready.Wait()
						before = processorTime()
						close(begin)
					}
					<-begin
					start := time.Now()
					err := allToAll(ctx, w)
					end := time.Now()
					mu.Lock()
					defer mu.Unlock()
					if first.IsZero() || start.Before(first) {
						first = start
					}
					if end.After(last) {
						last, used = end, processorTime()
					}
					return err
				}, strand.WithParam("btl", "tcp,self"), strand.WithParam("btl_tcp_if_include", "127.0.0.1"))
				b.ReportMetric(float64(last.Sub(first).Microseconds())/1000, "ms")
				b.ReportMetric(float64((used-before).Microseconds())/1000, "cpu-ms")
				b.StartTimer()
			}
		})
	}
}
