//go:build linux

package udp

import (
	"net/netip"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/strandmp/strand/internal/rawio"
)

// BenchmarkBare is what no transport over UDP can be faster than here: batches of packets from one thread to another one
// that spins, without acknowledgements, frames or matching. In turn: nothing but bytes in one piece; bytes that are put
// behind headers, and taken from there; and the same authenticated, and encrypted.
func BenchmarkBare(b *testing.B) {
	b.Run("bytes", func(b *testing.B) { bare(b, nil, nil) })
	for how, name := range protections {
		out, in := guards(b, how)
		overhead := 0
		if how != protectNone {
			overhead = sealSize
		}
		memory, number := make([]byte, 1<<20), uint64(0)
		put := func(packet []byte) {
			payload := bareSize - bareHead - overhead
			number++
			p := appendHead(packet[:0], kindData, 42, number)
			p = append(p[:bareHead], memory[int(number)*payload%(len(memory)-payload):][:payload]...)
			out.seal(p)
		}
		landing, at := make([]byte, 1<<20), 0
		take := func(packet []byte) bool {
			items, good := in.open(packet)
			at = (at + len(items)) % (len(landing) - bareSize)
			copy(landing[at:], items[bareHead-headSize:])
			return good
		}
		b.Run(name, func(b *testing.B) { bare(b, put, take) })
	}
}

const (
	bareSize  = 1400
	bareHead  = headSize + partSize + 32
	bareAhead = 1 << 20 // bytes that the receiver may be behind
)

func bare(b *testing.B, put func([]byte), take func([]byte) bool) {
	var fds [2]int
	for i := range fds {
		var err error
		if fds[i], err = rawio.Datagrams(netip.MustParseAddrPort("127.0.0.1:0"), 4<<20, 4<<20); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { rawio.Close(fds[i]) })
	}
	rawio.JoinPackets(fds[1])
	var got atomic.Int64
	var stop, forged atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		a := rawio.NewArrived(4, 64<<10)
		for !stop.Load() {
			n, errno := a.Receive(fds[1])
			if errno == syscall.EAGAIN {
				continue
			}
			bytes := 0
			for i := range n {
				all, segment, _, _ := a.Datagram(i)
				bytes += len(all)
				for ; take != nil && len(all) > 0; all = all[min(segment, len(all)):] {
					if !take(all[:min(segment, len(all))]) {
						forged.Store(true)
					}
				}
			}
			got.Add(int64(bytes))
		}
	}()
	defer func() {
		stop.Store(true)
		<-ended
		if forged.Load() {
			b.Error("a packet was not what was sent")
		}
	}()
	const count = rawio.MaxSegmentsBytes / bareSize
	p, to := rawio.NewPackets(fds[0]), rawio.NewDestination(rawio.LocalAddr(fds[1]))
	memory, sent := make([]byte, count*bareSize), int64(0)
	b.SetBytes(count * bareSize)
	for b.Loop() {
		for since := time.Now(); sent-got.Load() > bareAhead; {
			if time.Since(since) > time.Second {
				b.Fatal("packets were lost")
			}
		}
		p.Reset(&to, bareSize)
		for at := 0; at < len(memory); at += bareSize {
			if put != nil {
				put(memory[at : at+bareSize : at+bareSize])
			}
			p.Add(memory[at : at+bareSize])
		}
		n, _ := p.Send(fds[0])
		sent += int64(n * bareSize)
	}
}
