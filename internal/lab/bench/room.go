package bench

import (
	"fmt"

	"github.com/strandmp/strand/internal/machine"
)

// rankBytes is what a rank takes without its messages, beside the program that all share, in bytes.
const rankBytes = 16 << 20

// CheckRoom refuses cells that this host has no memory for. It is an estimate. Contenders is how many jobs
// there are at a time.
func CheckRoom(cells []Cell, contenders int) error {
	free, known := machine.FreeMemory()
	if !known {
		return nil
	}
	for i, c := range cells {
		each := c.bytes()
		if i > 0 && cells[i-1].Processes() == c.Processes() {
			each += cells[i-1].bytes() // may not be given back yet
		}
		if need := uint64(contenders*c.Processes()) * (rankBytes + each); need > free {
			return fmt.Errorf("%s: %d processes need about %d MB of memory: %d MB are free here; want fewer ranks or smaller --sizes",
				Order{Cell: c}.describe(), contenders*c.Processes(), need>>20, free>>20)
		}
	}
	return nil
}

// bytes is what a rank has in its buffers.
func (c Cell) bytes() uint64 {
	size := uint64(c.Size)
	if c.Workload != Coll {
		return size
	}
	if c.Call.whole() {
		return 2 * size
	}
	return 2*size + 2*size*uint64(c.Ranks)
}
