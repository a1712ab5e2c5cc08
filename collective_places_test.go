package strand

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/representation"
)

// told is what a rank on a host tells that may use some processors.
func told(host uint64, processors ...int) []byte {
	b := make([]byte, whereabout)
	binary.LittleEndian.PutUint64(b, host)
	for _, cpu := range processors {
		b[8+cpu/8] |= 1 << (cpu % 8)
	}
	return b
}

// A host is crowded if its ranks are more than the processors that any of them may use.
func TestPlacesOf(t *testing.T) {
	for _, tc := range []struct {
		name    string
		all     [][]byte
		hosts   []int
		crowded bool
	}{
		{"room for all", [][]byte{told(7, 0, 1), told(7, 0, 1)}, []int{0, 0}, false},
		{"each bound to its own", [][]byte{told(7, 0), told(7, 9), told(7, 255)}, []int{0, 0, 0}, false},
		{"each bound to its own of many", [][]byte{told(7, 255), told(7, 256), told(7, 511), told(7, 1023)}, []int{0, 0, 0, 0}, false},
		{"two on one", [][]byte{told(7, 3), told(7, 3)}, []int{0, 0}, true},
		{"two hosts, one crowded", [][]byte{told(9, 0, 1), told(7, 0), told(9, 0, 1), told(7, 0)}, []int{0, 1, 0, 1}, true},
		{"two hosts of the same processors", [][]byte{told(9, 0), told(7, 0)}, []int{0, 1}, false},
	} {
		var all []byte
		for _, one := range tc.all {
			all = append(all, one...)
		}
		p := placesOf(all)
		for rank, host := range tc.hosts {
			assert.Equal(t, host, p.Host(rank), tc.name)
		}
		assert.Equal(t, tc.crowded, p.Crowded, tc.name)
		assert.False(t, p.ByMemory, tc.name)
		for i := range tc.all {
			all[(i+1)*whereabout-1] |= byMemoryFlag
			assert.Equal(t, i == len(tc.all)-1, placesOf(all).ByMemory, tc.name)
		}
		all[len(all)-2] = byte(representation.Words)
		assert.False(t, placesOf(all).ByMemory, "%s, the last one of another kind", tc.name)
	}
}

// Ranks are many in a crowd only if there are more of them than processors, of which a host may have hundreds.
func TestPlacesOfMany(t *testing.T) {
	const processors = 384
	var every []int
	for cpu := range processors {
		every = append(every, cpu)
	}
	all := bytes.Repeat(told(7, every...), processors)
	assert.False(t, placesOf(all).Crowded)
	assert.True(t, placesOf(append(all, told(7, every...)...)).Crowded)
}

// Where a job has more ranks than a host has processors, a communicator of few of them waits in a crowd all the same.
func TestPlacesOfFewInACrowd(t *testing.T) {
	two := append(told(7, 0, 1), told(7, 0, 1)...)
	assert.False(t, placesOf(two).Crowded)
	two[len(two)-1] |= crowdedFlag
	assert.True(t, placesOf(two).Crowded)
}

func TestOwnWhereabout(t *testing.T) {
	own := ownWhereabout(false, false, 0)
	assert.Len(t, own, whereabout)
	assert.Equal(t, own[:8], ownWhereabout(true, true, 0)[:8])
	assert.NotEqual(t, make([]byte, whereabout-8), own[8:], "there is a processor")
	assert.Zero(t, own[whereabout-1])
	assert.EqualValues(t, byMemoryFlag, ownWhereabout(true, false, 0)[whereabout-1])
	assert.EqualValues(t, crowdedFlag, ownWhereabout(false, true, 0)[whereabout-1])
	assert.EqualValues(t, representation.Order, ownWhereabout(false, false, representation.Order)[whereabout-2])
	assert.NotEmpty(t, usableProcessors())
}
