//go:build linux

package wire

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/internal/lab/emulate"
)

func TestDestination(t *testing.T) {
	frame := func(host int) []byte { return append(HardwareAddr(host), make([]byte, 8)...) }
	for _, host := range []int{0, 1, 255} {
		got, ok := destination(frame(host), 256)
		assert.True(t, ok)
		assert.Equal(t, host, got)
	}
	for what, f := range map[string][]byte{
		"no such host":   frame(256),
		"too short":      frame(0)[:13],
		"empty":          nil,
		"broadcast":      slices.Repeat([]byte{0xff}, 14),
		"somebody else":  append([]byte{2, 0, 0, 1, 0, 0}, make([]byte, 8)...),
		"another's bits": append([]byte{0, 0, 0, 0, 0, 0}, make([]byte, 8)...),
	} {
		_, ok := destination(f, 256)
		assert.False(t, ok, what)
	}
}

func TestBuffersAreLentToOneAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 200 << 10 // five to a chunk
		b := newBuffers(size, 3<<20)
		defer b.close()
		var lent []emulate.Frame
		refs := map[emulate.Frame]int{}
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			if len(lent) > 0 && rapid.Bool().Draw(t, "let go") {
				i := rapid.IntRange(0, len(lent)-1).Draw(t, "which")
				f := lent[i]
				require.Equal(t, byte(f), b.bytes(f)[0])
				require.Equal(t, byte(f), b.bytes(f)[size-1])
				b.letGo(f)
				if refs[f]--; refs[f] == 0 {
					lent = slices.Delete(lent, i, i+1)
				}
				continue
			}
			f, ok := b.take()
			require.Equal(t, len(lent) < 15, ok, "there are fifteen")
			if !ok {
				continue
			}
			require.NotContains(t, lent, f)
			memory := b.bytes(f)
			require.Len(t, memory, size)
			memory[0], memory[size-1] = byte(f), byte(f)
			refs[f] = rapid.IntRange(0, 2).Draw(t, "times")
			b.hold(f, refs[f])
			if refs[f] > 0 {
				lent = append(lent, f)
			}
		}
	})
}

func TestLatenessIsRoundedUpByLessThanHalf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Hour)), 1, 100).Draw(t, "times")
		var l lateness
		for _, d := range times {
			l.add(time.Duration(d))
		}
		sum := time.Duration(0)
		for _, d := range times {
			sum += time.Duration(max(d, 1))
		}
		require.Equal(t, sum/time.Duration(len(times)), l.mean())
		slices.Sort(times)
		for _, share := range []float64{0, 0.5, 0.99} {
			exact := time.Duration(max(1, times[int(math.Ceil(share*float64(len(times)-1)-1e-9))]))
			got := l.quantile(share)
			require.GreaterOrEqual(t, got, exact)
			require.LessOrEqual(t, float64(got), 1.5*float64(exact), "share %v", share)
		}
		require.Equal(t, time.Duration(max(1, times[len(times)-1])), l.quantile(1))
	})
}

// Whatever a wire counts is there in the sum with one that has seen nothing.
func TestStatsAddUp(t *testing.T) {
	var all Stats
	fields := reflect.ValueOf(&all).Elem()
	for i := range fields.NumField() {
		if f := fields.Field(i); f.CanInt() {
			f.SetInt(int64(i) + 1)
		} else {
			f.SetUint(uint64(i) + 1)
		}
	}
	var sum Stats
	sum.Add(all)
	require.Equal(t, all, sum)
}

func TestStartNamesWhatIsMissing(t *testing.T) {
	two, err := emulate.New(emulate.Uniform(2, emulate.Link{}, 0))
	require.NoError(t, err)
	_, err = Start(Config{Switch: two, Interfaces: []int{1}, MTU: 1500})
	require.ErrorContains(t, err, "1 interfaces for 2 hosts: want one for each")
}

// An alarm that rings late by a time that varies is on the average on time, and
// never kept waiting for longer than it may spin.
func TestAlarmLearnsHowLateItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := time.Duration(rapid.Int64Range(0, int64(300*time.Microsecond)).Draw(t, "always late by"))
		var a alarm
		now := time.Second
		for range 30 {
			due := now + 20*time.Millisecond
			now += a.set(now, due) + delay
			a.rang(now)
			if now < due {
				require.True(t, a.near(now), "%v before it is due", due-now)
				now = due
			}
		}
		require.InDelta(t, delay, a.late, float64(time.Microsecond))
		require.LessOrEqual(t, now-a.due, 2*time.Microsecond)
		require.Equal(t, 100*time.Microsecond, a.set(now, now+100*time.Microsecond), "a short sleep is what it is")
		require.False(t, a.near(now+50*time.Microsecond))
	})
}
