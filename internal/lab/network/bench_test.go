//go:build linux

package network_test

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
)

// What gets through, in Mbit/s of data: from one host to another, and around a ring of eight. An
// iteration is 64 KB.
func BenchmarkThroughput(b *testing.B) {
	for name, hosts := range map[string]int{"pair": 2, "eight": 8} {
		for _, delay := range []time.Duration{0, time.Millisecond} {
			b.Run(name+"/"+delay.String(), func(b *testing.B) { throughput(b, hosts, delayed(delay)) })
		}
	}
}

func throughput(b *testing.B, hosts int, link emulate.Link) {
	n, end := build(b, network.Config{Hosts: hosts, Link: link})
	var received atomic.Int64
	senders := hosts
	if hosts == 2 {
		senders = 1
	}
	var conns []*net.TCPConn
	for i := range senders {
		near, far := connect(b, n.Host(i), n.Host((i+1)%hosts))
		conns = append(conns, near, far)
		go func() {
			for buf := make([]byte, 256<<10); ; {
				if _, err := near.Write(buf); err != nil {
					return
				}
			}
		}()
		go func() {
			for buf := make([]byte, 1<<20); ; {
				k, err := far.Read(buf)
				if err != nil {
					return
				}
				received.Add(int64(k))
			}
		}()
	}
	const chunk = 64 << 10 // an iteration
	b.SetBytes(chunk)
	b.ResetTimer()
	start, before := time.Now(), received.Load()
	tick := time.NewTicker(100 * time.Microsecond)
	defer tick.Stop()
	for received.Load()-before < int64(b.N)*chunk {
		<-tick.C
	}
	b.ReportMetric(float64(received.Load()-before)*8/time.Since(start).Seconds()/1e6, "Mbit/s")
	b.StopTimer()
	for _, c := range conns {
		require.NoError(b, c.Close())
	}
	r := end()
	b.ReportMetric(float64(r.Wire.Spoilt()), "spoilt")
}
