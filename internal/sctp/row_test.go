package sctp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/stream"
	"github.com/strandmp/strand/internal/test/need"
)

// rowOf is the packets of a row, or the one that Send makes.
func (d *direct) rowOf(i int, single bool) (packets [][]byte) {
	a := d.assoc[i]
	if single {
		if packet, _, ok := a.Send(d.now, nil); ok {
			packets = append(packets, packet)
		}
		return packets
	}
	row, size, way, ok := a.SendRow(d.now, nil, 64, 65000)
	if !ok {
		return nil
	}
	if len(row) > size && !way.Whole {
		panic("packets in a row that the network is to cut")
	}
	return slices.Collect(slices.Chunk(row, size))
}

// A row is the packets that Send would have made one by one, whatever is lost meanwhile, and whatever length messages have.
func TestRowsAreWhatSendMakes(t *testing.T) {
	longest := 0
	for seed := range need.Seeds(t, 40, 20_000) {
		longest = max(longest, compareRows(t, seed))
	}
	if !need.Replays() {
		require.Greater(t, longest, 10)
	}
}

// So it is where the first packet has the last of what is sent again, and less new data is left than is sent before an answer has come; and where something else
// is to be sent that goes before data.
func TestRowsEndBeforeWhatWaits(t *testing.T) {
	compareRows(t, 286)
	compareRows(t, 632)
}

// compareRows returns the length of the longest row.
func compareRows(t *testing.T, seed uint64) (longest int) {
	change := func(c *Config) {
		r := rand.New(rand.NewPCG(seed, 3))
		c.Interleave, c.Delay, c.ZeroChecksum = r.IntN(2) == 0, r.IntN(2) == 0, uint32(r.IntN(2))
		c.Window = []int{0, 30_000, 100_000}[r.IntN(3)]
	}
	pairs := [2]*direct{newDirect(t, 8, change), newDirect(t, 8, change)}
	chance := rand.New(rand.NewPCG(seed, 2))
	for range 300 {
		sizes := make([]int, 1+chance.IntN(4))
		for i := range sizes {
			sizes[i] = 1 + chance.IntN(1<<chance.IntN(19))
		}
		var sent [2][2][][]byte // by pair and end
		for k, d := range pairs {
			for i, a := range d.assoc {
				for id, size := range sizes {
					if a.Queued() < 1<<20 {
						m := &stream.Message{Stream: uint16(id), Pieces: [][]byte{make([]byte, size)}, Size: size}
						require.NoError(t, a.Push(d.now, m))
					}
				}
				for row := d.rowOf(i, k == 0); len(row) > 0; row = d.rowOf(i, k == 0) {
					longest = max(longest, len(row))
					sent[k][i] = append(sent[k][i], row...)
				}
			}
		}
		for i, packets := range sent[0] {
			require.True(t, slices.EqualFunc(packets, sent[1][i], slices.Equal), "seed %d: %d packets and %d", seed, len(packets), len(sent[1][i]))
		}
		lost := chance.Uint64()
		for k, d := range pairs {
			for i, packets := range sent[k] {
				for j, packet := range packets {
					if lost>>(j%64)&7 != 0 {
						d.take(1-i, packet)
					}
				}
			}
			d.now += 1e6
			for _, a := range d.assoc {
				if at := a.At(); at != 0 && at <= d.now {
					a.Tick(d.now)
				}
			}
		}
	}
	return longest
}
