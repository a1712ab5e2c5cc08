package strand

import (
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/require"
)

// A call of 64 MB must not have its communicator keep as much for as long as it lives.
func TestLongMemoryOfACallIsGivenBack(t *testing.T) {
	var k courier
	long := weak.Make(&k.Scratch(1 << 20)[0])
	k.end(nil)
	runtime.GC()
	require.Nil(t, long.Value(), "the memory of a call that is over")
	runtime.KeepAlive(&k)
}

func TestCallsUseTheMemoryOfThoseBefore(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, n := range []int{1 << 10, 1 << 20} {
		var k courier
		first := unsafe.SliceData(k.Scratch(n))
		k.end(nil)
		k.begin(nil, "", 0)
		require.Same(t, first, unsafe.SliceData(k.Scratch(n-1)), "%d bytes", n)
		runtime.KeepAlive(first)
	}
}
