package sctp

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/stream"
)

// A direct pair of endpoints hand each other their packets.
type direct struct {
	ends  [2]*Endpoint
	assoc [2]*Association
	at    [2]netip.AddrPort
	now   int64
	buf   []byte
	m     *stream.Message
	free  bool
}

func (d *direct) Up()                                  {}
func (d *direct) Receive(uint16, uint32, []byte, bool) {}
func (d *direct) Confirmed(*stream.Message)            { d.free = true }
func (d *direct) PathChanged(int)                      {}
func (d *direct) Down(error)                           {}

func newDirect(t testing.TB, size int, changes ...func(*Config)) *direct {
	d := &direct{buf: make([]byte, 0, 65000), now: 1, free: true}
	for i := range d.ends {
		d.at[i] = netip.AddrPortFrom(address(0, i), udpPort)
		c := Config{
			Port: sctpPort, Random: rand.New(rand.NewPCG(uint64(i), 1)).Uint64, Interleave: true, ZeroChecksum: 1,
			Accept: func(a *Association) Owner { d.assoc[i] = a; return d },
		}
		for _, change := range changes {
			change(&c)
		}
		var err error
		d.ends[i], err = NewEndpoint(c)
		require.NoError(t, err)
	}
	a, err := d.ends[0].Associate(d.now, []Pair{{Local: d.at[0].Addr(), Remote: d.at[1]}}, sctpPort, d)
	require.NoError(t, err)
	d.assoc[0] = a
	payload := make([]byte, size)
	d.m = &stream.Message{Pieces: [][]byte{payload[:size/2], payload[size/2:]}, Size: size}
	d.pump()
	require.Equal(t, Established, a.State())
	return d
}

// pump has packets go to and fro until there are none.
func (d *direct) pump() {
	for quiet := 0; quiet < 2; {
		quiet = 0
		for i, a := range d.assoc {
			sent := false
			for a != nil {
				row, size, _, ok := a.SendRow(d.now, d.buf[:0], 64, cap(d.buf))
				if !ok {
					break
				}
				sent = true
				for packet := range slices.Chunk(row, size) {
					d.take(1-i, packet)
				}
			}
			if !sent {
				quiet++
			}
		}
		d.now += 1e4
	}
}

// take has an end take a packet.
func (d *direct) take(to int, packet []byte) {
	from := 1 - to
	if _, reply := d.ends[to].Receive(d.now, d.at[to].Addr(), d.at[from], packet, nil); reply != nil {
		d.ends[from].Receive(d.now, d.at[from].Addr(), d.at[to], reply, nil)
	}
}

// carry carries a message, until it is confirmed.
func (d *direct) carry() {
	d.free = false
	if d.assoc[0].Push(d.now, d.m) != nil {
		panic("the association is over")
	}
	for !d.free {
		d.pump()
		d.now += 1e6
		for _, a := range d.assoc {
			if at := a.At(); at != 0 && at <= d.now {
				a.Tick(d.now)
			}
		}
	}
}

// Messages cost no memory, however long.
func TestNoAllocation(t *testing.T) {
	for _, size := range []int{8, 100_000} {
		d := newDirect(t, size)
		for range 200 {
			d.carry()
		}
		require.Zero(t, testing.AllocsPerRun(100, d.carry), "%d bytes", size)
	}
}

func BenchmarkMessage(b *testing.B) {
	for name, size := range map[string]int{"8": 8, "1M": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			d := newDirect(b, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				d.carry()
			}
		})
	}
}
