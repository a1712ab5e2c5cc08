package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/machine"
	"github.com/strandmp/strand/internal/test/need"
)

// The buffers of all ranks count, and of all jobs that there are at a time.
func TestRoom(t *testing.T) {
	free, known := machine.FreeMemory()
	need.That(t, known, "needs a kernel that says how much memory is free")
	cells := func(call Call, ranks int, sizes ...int) (all []Cell) {
		for _, size := range sizes {
			all = append(all, Cell{Workload: Coll, Call: call, Ranks: ranks, Window: 1, Size: size})
		}
		return all
	}
	require.NoError(t, CheckRoom(cells("alltoall", 2, 8, 80), 2))
	quarter := int(free / 4) // far from the border: what is free changes
	assert.ErrorContains(t, CheckRoom(cells("gather", 2, 8, quarter), 1), "on 2 ranks: 2 processes need about")
	assert.ErrorContains(t, CheckRoom(cells("bcast", 2, quarter), 4), "8 processes need about")
	assert.ErrorContains(t, CheckRoom(cells("bcast", 2, 4*quarter, 8), 1), "bcast of ")
}

func TestBytesOfBuffers(t *testing.T) {
	for call, want := range map[Call]uint64{"barrier": 0, "bcast": 200, "allreduce": 200, "gather": 1000, "alltoall": 1000} {
		c := Cell{Workload: Coll, Call: call, Ranks: 4, Size: 100}
		if call == "barrier" {
			c.Size = 0
		}
		assert.Equal(t, want, c.bytes(), call)
	}
	assert.EqualValues(t, 100, Cell{Workload: PingPong, Size: 100}.bytes())
}
