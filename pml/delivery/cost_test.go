package delivery

import "testing"

// BenchmarkDelivery is what delivery costs a message of one frame on both sides:
// the sender keeps the frame under a number until it is acknowledged, the
// receiver notes that the number has arrived. Nothing of it would be there if a
// message were done once it is written.
func BenchmarkDelivery(b *testing.B) {
	for _, bench := range []struct {
		name  string
		every int // messages for an acknowledgement
	}{{"answered", 1}, {"window of 64", 64}} {
		b.Run(bench.name, func(b *testing.B) {
			var sent Sender
			var received Receiver
			frames := make([]Frame, bench.every)
			var done int
			acked := func(f *Frame) {
				f.acked = true
				done++
			}
			b.ReportAllocs()
			for i := range b.N {
				f := &frames[i%bench.every]
				f.acked, f.sent = false, true
				if err := received.add(sent.Add(f)); err != nil {
					b.Fatal(err)
				}
				if (i+1)%bench.every == 0 {
					if err := sent.Acknowledge(received.next, acked); err != nil {
						b.Fatal(err)
					}
				}
			}
			if want := b.N - b.N%bench.every; done != want {
				b.Fatalf("%d of %d frames are acknowledged", done, want)
			}
		})
	}
}
