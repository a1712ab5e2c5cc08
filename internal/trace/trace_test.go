package trace

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder returns one whose ring this process has made.
func recorder(t testing.TB, size int64) (*Recorder, *os.File) {
	t.Helper()
	f, err := Create(size)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	r, err := open(int(f.Fd()))
	require.NoError(t, err)
	return r, f
}

func contents(t testing.TB, f *os.File) []byte {
	t.Helper()
	b, err := Contents(f)
	require.NoError(t, err)
	return b
}

func TestRing(t *testing.T) {
	r, f := recorder(t, MinSize)
	tcp := r.Name("tcp")
	assert.Equal(t, tcp, r.Name("tcp"))
	want := Event{Op: 1<<63 | 5, Context: 1 << 40, Bytes: 1 << 50, Peer: Any, Tag: 1<<31 - 1, Seq: 1<<32 - 1, Name: tcp, Kind: CallOver, Failed: true}
	r.Record(want)
	one, err := Read(3, "node1", contents(t, f))
	require.NoError(t, err)
	require.Len(t, one.Events, 1)
	got := one.Events[0]
	want.Time = got.Time
	assert.Equal(t, want, got)
	assert.Equal(t, "tcp", one.Name(got.Name))
	assert.Empty(t, one.Name(999))
	assert.Zero(t, one.Dropped)

	full := int(capacity(MinSize))
	for i := range 3 * full {
		r.Record(Event{Kind: WaitBegun, Op: uint64(i)})
	}
	all, err := Read(3, "node1", contents(t, f))
	require.NoError(t, err)
	assert.Len(t, all.Events, full-1, "the one that would be overwritten next does not count")
	assert.EqualValues(t, 2*full+2, all.Dropped)
	assert.EqualValues(t, 3*full-1, all.Events[full-2].Op)
	for i := 1; i < len(all.Events); i++ {
		require.Equal(t, all.Events[i-1].Op+1, all.Events[i].Op)
		require.GreaterOrEqual(t, all.Events[i].Time, all.Events[i-1].Time)
	}

	// Of what came from another host the end may be missing.
	text := contents(t, f)
	part, err := Read(3, "node1", text[:atEvents+(full/2)*eventSize+5])
	require.NoError(t, err)
	assert.Len(t, part.Events, full/2-1)
	assert.EqualValues(t, 3*full+1, uint64(len(part.Events))+part.Dropped)

	for i := range 10_000 { // more names than there is room for
		r.Name(strings.Repeat("x", i%100) + string(rune('a'+i%26)))
	}
	_, err = Read(0, "", contents(t, f))
	assert.NoError(t, err)
}

func TestRecordingAllocatesNothing(t *testing.T) {
	r, _ := recorder(t, MinSize)
	r.Name("tcp")
	assert.Zero(t, testing.AllocsPerRun(1000, func() { r.Record(Event{Kind: SendOver, Name: r.Name("tcp")}) }))
}

// BenchmarkRecord is what an event costs a rank that records.
func BenchmarkRecord(b *testing.B) {
	r, _ := recorder(b, DefaultSize)
	b.ReportAllocs()
	for range b.N {
		r.Record(Event{Kind: SendPosted, Op: 7, Context: 2, Peer: 1, Tag: 5, Bytes: 8})
	}
}

func TestNoRing(t *testing.T) {
	for _, size := range []int64{0, -1, MinSize - 1, MaxSize + 1} {
		_, err := Create(size)
		assert.ErrorContains(t, err, "want 64K to 1G")
	}
	f, err := os.Create(t.TempDir() + "/f")
	require.NoError(t, err)
	defer f.Close()
	for _, text := range []string{"", mark, mark + strings.Repeat("\xff", 1<<16), strings.Repeat("x", 1<<16)} {
		_, err := f.WriteAt([]byte(text), 0)
		require.NoError(t, err)
		_, err = Contents(f)
		assert.Error(t, err)
		_, err = open(int(f.Fd()))
		assert.Error(t, err)
		_, err = Read(0, "", []byte(text))
		assert.Error(t, err)
	}
	// A head may say more than there is, and times at which nothing was.
	_, ring := recorder(t, MinSize)
	size := contents(t, ring)[atSize:atHostClock]
	_, err = ring.WriteAt(binary.LittleEndian.AppendUint64(nil, MaxSize), atSize)
	require.NoError(t, err)
	_, err = Contents(ring)
	assert.ErrorIs(t, err, errNoRing)
	_, err = open(int(ring.Fd()))
	assert.ErrorIs(t, err, errNoRing)
	_, err = ring.WriteAt(size, atSize)
	require.NoError(t, err)
	for _, at := range []int64{atHostClock, atCalendar} {
		_, err = ring.WriteAt(binary.LittleEndian.AppendUint64(nil, 1<<63), at)
		require.NoError(t, err)
		_, err = Read(0, "", contents(t, ring))
		assert.ErrorIs(t, err, errNoRing)
	}
	t.Setenv(Variable, "1")
	assert.Nil(t, Inherited())
}

func FuzzRead(f *testing.F) {
	r, ring := recorder(f, MinSize)
	r.Record(Event{Kind: SendPosted, Op: 1})
	r.Record(Event{Kind: SendDone, Op: 1})
	f.Add(contents(f, ring))
	f.Fuzz(func(t *testing.T, b []byte) {
		rank, err := Read(0, "a", b)
		if err != nil {
			return
		}
		var out bytes.Buffer
		_, err = Write(&out, []*Rank{rank})
		require.NoError(t, err)
		readBack(t, out.Bytes())
	})
}

// A parsed page.
type parsed struct {
	Unit  string         `json:"displayTimeUnit"`
	Items []item         `json:"traceEvents"`
	Other map[string]any `json:"otherData"`
}

// readBack checks a page against the rules of its format: times are in order, spans of a row do not
// overlap, and each arrow begins and ends once, within a span, and not before it begins.
func readBack(t testing.TB, text []byte) parsed {
	t.Helper()
	var p parsed
	require.NoError(t, json.Unmarshal(text, &p))
	type row struct{ rank, row int }
	spans := make(map[row][]item)
	last := map[row]float64{}
	begun, ended := make(map[int]item), make(map[int]bool)
	at := -1.0
	within := func(i item) {
		for _, s := range spans[row{i.Process, i.Row}] {
			if s.Time <= i.Time && i.Time <= s.Time+*s.Last+0.001 {
				return
			}
		}
		t.Fatalf("an arrow's end is in no span: %+v", i)
	}
	for _, i := range p.Items {
		if i.Phase == "M" {
			continue
		}
		require.GreaterOrEqual(t, i.Time, at)
		at = i.Time
		if r := (row{i.Process, i.Row}); i.Phase == "X" {
			require.GreaterOrEqual(t, i.Time+0.001, last[r], "%+v", i)
			last[r] = i.Time + *i.Last
			spans[r] = append(spans[r], i)
		}
	}
	for _, i := range p.Items {
		switch i.Phase {
		case "s":
			_, twice := begun[i.ID]
			require.False(t, twice)
			begun[i.ID] = i
			within(i)
		case "f":
			_, known := begun[i.ID]
			require.True(t, known && !ended[i.ID])
			require.GreaterOrEqual(t, i.Time, begun[i.ID].Time)
			ended[i.ID] = true
			within(i)
		}
	}
	require.Len(t, ended, len(begun))
	return p
}

// A job is a made-up one whose hosts have wrong clocks.
type madeUp struct {
	random *rand.Rand
	ranks  []*Rank
	offset []int64
	drift  []float64
	next   uint64
}

func (m *madeUp) record(rank int, at int64, e Event) {
	e.Time = at + m.offset[rank] + int64(m.drift[rank]*float64(at))
	m.ranks[rank].Events = append(m.ranks[rank].Events, e)
}

// message has one sent at a time. It returns when it was received.
func (m *madeUp) message(from, to int, at int64, seq uint32) int64 {
	m.next += 2
	there := at + 20_000 + m.random.Int64N(200_000)
	m.record(from, at, Event{Kind: SendPosted, Op: m.next, Peer: int32(to), Tag: 3, Seq: seq, Bytes: 100})
	m.record(to, at, Event{Kind: ReceivePosted, Op: m.next + 1, Peer: Any, Tag: Any, Bytes: 200})
	m.record(from, at+1000, Event{Kind: SendDone, Op: m.next})
	m.record(to, there, Event{Kind: ReceiveMatched, Op: m.next + 1, Peer: int32(from), Tag: 3, Seq: seq, Bytes: 100})
	m.record(to, there+10, Event{Kind: ReceiveDone, Op: m.next + 1})
	return there + 100
}

// Clocks of several hosts are brought together within the bound that is told.
func TestClocks(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, drift := range []float64{0, 40e-6} {
		random := rand.New(rand.NewPCG(seed, 1))
		m := &madeUp{random: random}
		hosts := []string{"a", "b", "b", "c", "alone"}
		of := map[string]int64{}
		rate := map[string]float64{}
		for i, h := range hosts {
			if _, known := of[h]; !known {
				of[h], rate[h] = random.Int64N(1e15), drift*(2*random.Float64()-1)
			}
			m.ranks = append(m.ranks, &Rank{Rank: i, Host: h, Calendar: -of[h]})
			m.offset, m.drift = append(m.offset, of[h]), append(m.drift, rate[h])
		}
		at, n := int64(0), uint32(0)
		for ; n < 200; n++ { // a and b talk, b and c, not a and c
			at = m.message(0, 1, at, n)
			at = m.message(1, 0, at, n)
			at = m.message(2, 3, at, n)
			at = m.message(3, 2, at, n) + random.Int64N(20_000_000)
		}
		m.message(4, 0, at, 0) // one direction says too little
		var out bytes.Buffer
		sum, err := Write(&out, m.ranks)
		require.NoError(t, err)
		p := readBack(t, out.Bytes())
		require.Len(t, sum.Clocks, 4)
		assert.Equal(t, int(4*n+1), sum.Arrows+sum.Lost)
		assert.Less(t, sum.Lost, 20)
		for i, c := range sum.Clocks {
			rank := []int{0, 1, 3, 4}[i]
			if assert.Equal(t, c.Host != "alone", c.Known); !c.Known {
				continue
			}
			assert.Less(t, c.Bound, int64(4*220_000))
			for _, real := range []int64{0, at / 2, at} {
				shown := c.Time(real + m.offset[rank] + int64(m.drift[rank]*float64(real)))
				first := real + m.offset[0] + int64(m.drift[0]*float64(real))
				assert.InDelta(t, first, shown, float64(c.Bound)+1000, "host %s", c.Host)
			}
		}
		assert.Len(t, p.Other["clocks"], 4)
	}
}

// What was not over, what was there before its receive, and what lost its other end is told.
func TestPage(t *testing.T) {
	a := &Rank{Rank: 0, Host: "a", Names: []string{"", "tcp", "Barrier"}, Dropped: 7, Events: []Event{
		{Time: 0, Kind: SendDone, Op: 99}, // whose begin was dropped
		{Time: 10, Kind: SendShort, Peer: 1, Tag: 1, Bytes: 4, Seq: 0},
		{Time: 11, Kind: SendOver, Peer: 1, Seq: 0, Name: 1},
		{Time: 20, Kind: SendPosted, Op: 1, Peer: 1, Tag: 2, Bytes: 1 << 20, Seq: 1},
		{Time: 30, Kind: CallBegun, Op: 2, Name: 2, Seq: 1, Context: 1},
		{Time: 40, Kind: WaitBegun, Op: 3, Bytes: 2},
		{Time: 50, Kind: WaitOver, Op: 3},
		{Time: 60, Kind: CallOver, Op: 2, Failed: true},
	}}
	b := &Rank{Rank: 1, Host: "a", Events: []Event{
		{Time: 15, Kind: Unexpected, Peer: 0, Tag: 1, Bytes: 4, Seq: 0},
		{Time: 25, Kind: ReceivePosted, Op: 1, Peer: 0, Tag: Any, Bytes: 10},
		{Time: 26, Kind: ReceiveMatched, Op: 1, Peer: 0, Tag: 1, Bytes: 4, Seq: 0},
		{Time: 27, Kind: ReceiveDone, Op: 1},
	}}
	var out bytes.Buffer
	sum, err := Write(&out, []*Rank{a, b})
	require.NoError(t, err)
	assert.Equal(t, 1, sum.Arrows)
	assert.Equal(t, 1, sum.Lost)
	assert.Equal(t, map[int]uint64{0: 7}, sum.Dropped)
	readBack(t, out.Bytes())
	for _, words := range []string{
		`"name":"send to 1","ph":"X","cat":"sends","ts":0,"dur":0.1`, `"over":"tcp"`, `"name":"send to 1 (not over)"`,
		`"name":"Barrier (failed)"`, `"name":"wait"`, `"name":"no receive yet for rank 0"`, `"its message was there before, for µs":0.01`,
		`"name":"rank 0 on a (7 older events were dropped)"`, `"tag":"any"`, `"messages_with_one_end":1`,
	} {
		assert.Contains(t, out.String(), words)
	}
	_, err = Write(&out, nil)
	assert.NoError(t, err)
}

// Who is interrupted between the readings of two clocks reads them again.
func TestClocksReadTogether(t *testing.T) {
	base, passed, pauses := time.Now(), time.Duration(0), 3
	now := func() time.Time {
		passed += 40 * time.Nanosecond
		return base.Add(passed)
	}
	at, other := together(now, func() int64 {
		if pauses > 0 {
			pauses--
			passed += 4 * time.Millisecond
		}
		return int64(passed)
	})
	assert.InDelta(t, float64(at.Sub(base)), float64(other), 40)
}

// However many things go on at once, none is shown as a part of another one, and rows are taken again.
func TestManyAtOnce(t *testing.T) {
	const at, pause = 1500, 1000
	r := &Rank{Host: "a"}
	for round := range int64(2) {
		for i := range int64(at) {
			r.Events = append(r.Events, Event{Time: round*2*at*pause + i*pause, Kind: ReceivePosted, Op: uint64(i), Peer: 1, Tag: 3})
		}
		for i := range int64(at) {
			r.Events = append(r.Events, Event{Time: (round*2+1)*at*pause + i*pause, Kind: ReceiveDone, Op: uint64(i)})
		}
	}
	var out bytes.Buffer
	_, err := Write(&out, []*Rank{r})
	require.NoError(t, err)
	rows := map[int]int{}
	for _, i := range readBack(t, out.Bytes()).Items {
		if i.Phase == "X" {
			rows[i.Row]++
		}
	}
	assert.Len(t, rows, at)
}
