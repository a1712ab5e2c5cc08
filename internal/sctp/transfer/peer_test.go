package transfer

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/recovery"
	"github.com/strandmp/strand/internal/sctp/chunk"
	"github.com/strandmp/strand/internal/sctp/stream"
)

const ms = int64(time.Millisecond)

// sack is an acknowledgement as it is read from a packet.
func sack(t testing.TB, cumulative uint32, window int64, gaps []chunk.Gap, duplicates ...uint32) *chunk.SACK {
	b := chunk.AppendSACK(nil, cumulative, uint32(window), gaps, duplicates)
	s, err := chunk.ParseSACK(chunk.Chunk{Type: chunk.TypeSACK, Value: b[4:]})
	require.NoError(t, err)
	return &s
}

// sending returns a sender with so many paths that has so many messages of 1000 bytes to send, from TSN 2^32-2
// on, and sends what it may at 0.
func sending(t testing.TB, c Config, messages, paths int) *Sender {
	out, err := stream.NewOutgoing(stream.Sending{Streams: 1})
	require.NoError(t, err)
	c.Outgoing, c.TSN = out, firstTSN
	if c.Window == 0 {
		c.Window = 1 << 20
	}
	s := NewSender(c)
	for range paths {
		s.AddPath(recovery.Config{Packet: 1100, Held: 25 * time.Millisecond}, recovery.NewReno(1100))
	}
	for range messages {
		require.NoError(t, out.Push(&stream.Message{Size: 1000, Pieces: [][]byte{make([]byte, 1000)}}))
	}
	send(s, 0)
	return s
}

const firstTSN = 1<<32 - 2

// send sends what may be sent, and returns the TSNs, counted from the first one.
func send(s *Sender, now int64) (sent []int32) {
	for {
		path, _, ok := s.Next(now)
		if !ok {
			return sent
		}
		chunks := s.Take(now, path, chunk.HeaderSize, 1100, nil)
		if len(chunks) == 0 {
			return sent
		}
		for _, c := range chunks {
			sent = append(sent, int32(c.TSN-uint32(firstTSN)))
		}
	}
}

func tsn(n int) uint32 { return firstTSN + uint32(n) }

func gap(first, last int) []chunk.Gap { return []chunk.Gap{{First: uint16(first), Last: uint16(last)}} }

// What no honest receiver says is refused whole.
func TestLiars(t *testing.T) {
	s := sending(t, Config{}, 5, 1)
	before := s.outstanding
	for name, c := range map[string]struct {
		sack *chunk.SACK
		want error
	}{
		"never sent":                 {sack(t, tsn(5), 1<<20, nil), ErrNeverSent},
		"far beyond":                 {sack(t, tsn(1<<30), 1<<20, nil), ErrNeverSent},
		"a gap that was never sent":  {sack(t, tsn(0), 1<<20, gap(2, 5)), ErrNeverSent},
		"a gap with 65535":           {sack(t, tsn(-1), 1<<20, gap(2, 65535)), ErrNeverSent},
		"an old one with such a gap": {sack(t, tsn(-50), 1<<20, gap(2, 65535)), ErrNeverSent},
		"a gap at 0":                 {sack(t, tsn(0), 1<<20, gap(0, 2)), ErrGaps},
		"a gap that ends before":     {sack(t, tsn(0), 1<<20, gap(3, 2)), ErrGaps},
		"gaps out of order":          {sack(t, tsn(-1), 1<<20, []chunk.Gap{{First: 4, Last: 4}, {First: 2, Last: 2}}), ErrGaps},
		"gaps that overlap":          {sack(t, tsn(-1), 1<<20, []chunk.Gap{{First: 2, Last: 4}, {First: 4, Last: 5}}), ErrGaps},
	} {
		require.ErrorIs(t, s.Acknowledge(100*ms, c.sack), c.want, name)
		require.Equal(t, before.base, s.base, name)
		require.Equal(t, before.bytes, s.bytes, name)
		require.Nil(t, s.Confirmed(), name)
	}
	require.ErrorIs(t, s.AcknowledgeUpTo(100*ms, tsn(5)), ErrNeverSent)
	require.NoError(t, s.Acknowledge(100*ms, sack(t, tsn(-1000), 1<<20, gap(5, 9))), "an old one is dropped")
	assert.EqualValues(t, 1, s.Stale)
	require.NoError(t, s.AcknowledgeUpTo(100*ms, tsn(4)))
	assert.True(t, s.Idle())
}

// Messages are confirmed in the order of their TSNs, and not by gaps: what is beyond a hole may be dropped.
func TestConfirmed(t *testing.T) {
	s := sending(t, Config{}, 5, 1)
	require.NoError(t, s.Acknowledge(100*ms, sack(t, tsn(-1), 1<<20, gap(2, 5))))
	assert.Nil(t, s.Confirmed())
	require.NoError(t, s.Acknowledge(101*ms, sack(t, tsn(4), 1<<20, nil)))
	for range 5 {
		assert.NotNil(t, s.Confirmed())
	}
	assert.Nil(t, s.Confirmed())
}

// What a receiver drops is sent again, if it does not say within a while that it has it. Acknowledgements may
// overtake each other.
func TestWithdrawn(t *testing.T) {
	s := sending(t, Config{}, 4, 1)
	require.NoError(t, s.Acknowledge(100*ms, sack(t, tsn(-1), 1<<20, gap(2, 3))))
	require.NoError(t, s.Acknowledge(101*ms, sack(t, tsn(-1), 1<<20, gap(2, 2))))
	assert.EqualValues(t, 1, s.Withdrawn)
	require.NoError(t, s.Acknowledge(102*ms, sack(t, tsn(-1), 1<<20, gap(2, 4))))
	s.Tick(1000 * ms)
	assert.Equal(t, []int32{0}, send(s, 1000*ms), "only what was never acknowledged")
	require.NoError(t, s.Acknowledge(1100*ms, sack(t, tsn(0), 1<<20, nil)))
	assert.EqualValues(t, 4, s.Withdrawn)
	require.NotZero(t, s.At())
	s.Tick(s.At())
	assert.Equal(t, []int32{1, 2, 3}, send(s, 1300*ms))
	require.NoError(t, s.Acknowledge(1400*ms, sack(t, tsn(3), 1<<20, nil)))
	assert.True(t, s.Idle())
	assert.Zero(t, s.Outstanding())
}

// A packet arrives, and the receiver takes one of its chunks only.
func TestLeft(t *testing.T) {
	out, err := stream.NewOutgoing(stream.Sending{Streams: 1})
	require.NoError(t, err)
	s := NewSender(Config{Outgoing: out, TSN: firstTSN, Window: 1 << 20})
	s.AddPath(recovery.Config{Packet: 1100}, recovery.NewReno(1100))
	for range 3 {
		require.NoError(t, out.Push(&stream.Message{Size: 100, Pieces: [][]byte{make([]byte, 100)}}))
	}
	require.Equal(t, []int32{0, 1, 2}, send(s, 0))
	require.NoError(t, s.Acknowledge(100*ms, sack(t, tsn(0), 50, gap(2, 2))))
	assert.Equal(t, []int32{1}, send(s, 100*ms))
	require.NoError(t, s.Acknowledge(200*ms, sack(t, tsn(2), 1<<20, nil)))
	assert.True(t, s.Idle())
}

// A receiver without room gets one chunk at a time, however long that takes, and as soon as it says that it
// has room, that is used (RFC 9260, section 6.1, rule A).
func TestFullPeer(t *testing.T) {
	s := sending(t, Config{Window: 3100, Suspect: 1}, 8, 2)
	require.Equal(t, 3000, s.Outstanding())
	now := 100 * ms
	require.NoError(t, s.Acknowledge(now, sack(t, tsn(2), 0, nil)))
	require.Equal(t, []int32{3}, send(s, now))
	for range 20 {
		now = s.At()
		s.Tick(now)
		require.Equal(t, []int32{3}, send(s, now))
		now += 30 * ms
		require.NoError(t, s.Acknowledge(now, sack(t, tsn(2), 0, nil)))
		require.Zero(t, s.Errors(0), "it is there")
		require.Equal(t, Active, s.State(0))
	}
	require.NoError(t, s.Acknowledge(now, sack(t, tsn(2), 1<<20, nil)))
	assert.Equal(t, int32(3), send(s, now)[0], "at once")
}

// A peer that says that it is full, and has dropped all that was sent, is asked with the chunk that all others wait for.
func TestFullPeerIsProbedWithTheOldest(t *testing.T) {
	s := sending(t, Config{Window: 3100}, 3, 1)
	require.NoError(t, s.Acknowledge(100*ms, sack(t, tsn(-1), 50, nil)))
	now := s.At()
	s.Tick(now)
	require.Equal(t, []int32{0}, send(s, now))
}

// So it is where the probe's packet has something else in it already, that leaves room for a shorter chunk only.
func TestTheOldestHasAPacketOfItsOwn(t *testing.T) {
	s := sending(t, Config{Window: 3100}, 2, 1)
	require.NoError(t, s.config.Outgoing.Push(&stream.Message{Size: 500, Pieces: [][]byte{make([]byte, 500)}}))
	require.Equal(t, []int32{2}, send(s, 0))
	require.NoError(t, s.Acknowledge(100*ms, sack(t, tsn(-1), 50, nil)))
	now := s.At()
	s.Tick(now)
	path, _, ok := s.Next(now)
	require.True(t, ok)
	require.Empty(t, s.Take(now, path, chunk.HeaderSize+100, 1100, nil))
	require.Equal(t, []int32{0}, send(s, now))
}

// A peer that has little room drops what does not fit while it waits for what is lost. So chunks get lost again and again, for no fault of the network's.
// When it is full nothing of that is waited for: it takes what all others wait for.
func TestFullPeerHasDroppedMuch(t *testing.T) {
	for _, full := range []bool{false, true} { // already, as they get lost
		s := sending(t, Config{}, 1000, 1)
		now := int64(0)
		rest := func(window int64) []int32 { // all but the first two have arrived
			now += 100 * ms
			require.NoError(t, s.Acknowledge(now, sack(t, tsn(-1), window, gap(3, int(s.next-s.base)))))
			return send(s, now)
		}
		for range 2 {
			require.Subset(t, rest(1<<20), []int32{0, 1})
		}
		if full {
			rest(50)
			now = s.At()
			s.Tick(now)
			require.Equal(t, []int32{0, 1}, send(s, now))
			continue
		}
		rest(1 << 20)
		now = s.At()
		s.Tick(now)
		require.Equal(t, 2, s.fates[paused], "they wait")
		highest := int(s.next - s.base)
		require.NoError(t, s.Acknowledge(now, sack(t, tsn(-1), 50, gap(3, highest))))
		require.Equal(t, []int32{0}, send(s, now))
		now += 10 * ms
		require.NoError(t, s.Acknowledge(now, sack(t, tsn(0), 50, gap(2, highest-1))))
		require.Equal(t, []int32{1}, send(s, now))
	}
}

// A window that takes nothing, or more than there can be, is borne.
func TestWindowsThatLie(t *testing.T) {
	s := sending(t, Config{}, 60_000, 1)
	for cumulative, now := 0, 100*ms; cumulative < 50_000; now += 10 * ms {
		cumulative = int(s.next-s.base) + cumulative
		require.NoError(t, s.Acknowledge(now, sack(t, uint32(s.next-1), 1<<32-1, nil)))
		for s.Confirmed() != nil {
		}
		send(s, now)
		require.LessOrEqual(t, s.next-s.base, uint64(mostSent))
		require.Positive(t, s.Window(), "where an int has 32 bits too")
	}
	require.Positive(t, NewSender(Config{Window: 1<<32 - 1}).Window())
}

// A chunk that was sent again is acknowledged sooner than it can have arrived, or twice: it was never lost, and
// the window is as before.
func TestNeverLost(t *testing.T) {
	for name, tell := range map[string]func(s *Sender, sent int64){
		"too soon": func(s *Sender, sent int64) {
			require.NoError(t, s.Acknowledge(sent+ms, sack(t, tsn(9), 1<<20, nil)))
		},
		"twice": func(s *Sender, sent int64) {
			require.NoError(t, s.Acknowledge(sent+100*ms, sack(t, tsn(9), 1<<20, nil)))
			require.NoError(t, s.Acknowledge(sent+101*ms, sack(t, tsn(9), 1<<20, nil, tsn(0))))
		},
	} {
		s := sending(t, Config{}, 10, 1)
		window := s.Path(0).Window()
		require.NoError(t, s.Acknowledge(100*ms, sack(t, tsn(-1), 1<<20, gap(2, 6))))
		require.Less(t, s.Path(0).Window(), window, name)
		now := s.At() // when the pace allows it
		require.Equal(t, []int32{0}, send(s, now), name)
		tell(s, now)
		assert.EqualValues(t, 1, s.Path(0).Spurious, name)
		assert.GreaterOrEqual(t, s.Path(0).Window(), window, name)
		assert.True(t, s.Idle(), name)
	}
}

// What is sent again over another path says nothing of which of the two has brought it.
func TestSeveralPaths(t *testing.T) {
	s := sending(t, Config{}, 5, 2)
	now := int64(0)
	for s.State(0) == Active {
		now = s.At()
		s.Tick(now)
		send(s, now)
	}
	require.Equal(t, 2, s.Errors(0), "a probe was not answered")
	require.Positive(t, s.Path(1).UnderWay())
	send(s, now)
	require.NoError(t, s.Acknowledge(now+ms, sack(t, tsn(1), 1<<20, nil)))
	assert.Equal(t, Suspect, s.State(0))
	s.SetState(now, 0, Down)
	assert.Equal(t, Down, s.State(0))
	s.SetState(now, 0, Active)
	assert.Zero(t, s.Errors(0))
}

// A path whose packets come to be shorter sends what was cut before alone.
func TestNarrower(t *testing.T) {
	s := sending(t, Config{}, 4, 1)
	s.Resize(0, 600)
	require.NoError(t, s.Acknowledge(100*ms, sack(t, tsn(-1), 1<<20, gap(4, 4))))
	path, _, ok := s.Next(100 * ms)
	require.True(t, ok)
	assert.Empty(t, s.Take(100*ms, path, chunk.HeaderSize+20, 600, nil), "not beside anything else")
	assert.Len(t, s.Take(100*ms, path, chunk.HeaderSize, 600, nil), 1)
}

// Small messages wait for each other, if they are to.
func TestDelay(t *testing.T) {
	s := sending(t, Config{Delay: true}, 1, 1)
	require.Equal(t, 1000, s.Outstanding())
	require.NoError(t, s.config.Outgoing.Push(&stream.Message{Size: 10, Pieces: [][]byte{make([]byte, 10)}}))
	assert.Empty(t, send(s, ms))
	require.NoError(t, s.Acknowledge(2*ms, sack(t, tsn(0), 1<<20, nil)))
	assert.Equal(t, []int32{1}, send(s, 2*ms))
}

// Nothing is allocated for a packet, be it lost or not.
func TestNoAllocations(t *testing.T) {
	s := sending(t, Config{Multipath: true}, 0, 2)
	r := NewReceiver(firstTSN, Receiving{})
	message := &stream.Message{Size: 30_000, Pieces: [][]byte{make([]byte, 30_000)}}
	chunks, told, now := make([]Chunk, 0, 64), make([]byte, 0, 2048), int64(0)
	random := rand.New(rand.NewPCG(1, 2))
	round := func() {
		if s.Idle() {
			for s.Confirmed() != nil {
			}
			if s.config.Outgoing.Push(message) != nil {
				panic("push")
			}
		}
		for {
			path, _, ok := s.Next(now)
			if !ok {
				break
			}
			if chunks = s.Take(now, path, chunk.HeaderSize, 1100, chunks[:0]); len(chunks) == 0 {
				break
			}
			if random.IntN(10) == 0 {
				continue
			}
			for _, c := range chunks {
				if r.Check(c.TSN) == Fresh {
					r.Add(c.TSN)
				}
			}
			r.Packet(now, path, false)
		}
		now += 10 * ms
		if r.Due() != 0 {
			told = r.AppendSACK(told[:0], 1000, 1<<20)
			a, err := chunk.ParseSACK(chunk.Chunk{Type: chunk.TypeSACK, Value: told[4:]})
			if err != nil || s.Acknowledge(now, &a) != nil {
				panic("acknowledge")
			}
		}
		s.Tick(now)
	}
	for range 5000 {
		round()
	}
	assert.Zero(t, testing.AllocsPerRun(2000, round))
	assert.NotZero(t, s.Again)
}

// The receiver against a set of what has arrived.
func TestReceiver(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 0xACC))
		first := -uint32(random.IntN(3000))
		r := NewReceiver(first, Receiving{})
		set, cumulative, spread := map[uint32]bool{}, first-1, 1+random.IntN(1<<random.IntN(13))
		for range 1 + random.IntN(3000) {
			n := cumulative + 1 + uint32(random.IntN(spread)) - uint32(random.IntN(4)*random.IntN(2))
			behind := int32(n-cumulative) <= 0
			want := Fresh
			if behind || set[n] {
				want = Duplicate
			}
			require.Equal(t, want, r.Check(n), "seed %d", seed)
			if want == Fresh {
				r.Add(n)
				set[n] = true
				for set[cumulative+1] {
					cumulative++
				}
			}
			require.Equal(t, cumulative, r.Cumulative(), "seed %d", seed)
			r.Packet(0, 0, false)
			if random.IntN(50) > 0 {
				continue
			}
			a, err := chunk.ParseSACK(chunk.Chunk{Type: chunk.TypeSACK, Value: r.AppendSACK(nil, 1<<16, 5)[4:]})
			require.NoError(t, err)
			require.Equal(t, cumulative, a.Cumulative)
			told := map[uint32]bool{}
			for i := range a.Gaps() {
				for n := a.Gap(i).First; n <= a.Gap(i).Last; n++ {
					told[cumulative+uint32(n)] = true
				}
			}
			for n := range set {
				if int32(n-cumulative) > 0 != told[n] {
					require.Fail(t, "told wrongly", "seed %d: %d", seed, n)
				}
			}
		}
		assert.Equal(t, Far, r.Check(cumulative+mostAhead))
	}
}

// RFC 9260, section 6.2: every second packet is answered, each one while something is missing, and the others
// after a while. With several paths something always is.
func TestWhenToAnswer(t *testing.T) {
	r := NewReceiver(1, Receiving{Held: 100 * time.Millisecond})
	come := func(now int64, path int, tsns ...uint32) int64 {
		for _, n := range tsns {
			if r.Check(n) == Fresh {
				r.Add(n)
			}
		}
		r.Packet(now, path, false)
		due := r.Due()
		if due == now {
			r.AppendSACK(nil, 100, 0)
		}
		return due
	}
	require.Zero(t, r.Due())
	assert.Equal(t, 101*ms, come(ms, 0, 1))
	assert.Equal(t, ms, come(2*ms, 0, 2), "the second")
	r.AppendSACK(nil, 100, 0)
	assert.Equal(t, 3*ms, come(3*ms, 0, 4), "a hole")
	assert.Equal(t, 4*ms, come(4*ms, 0, 5), "there is a hole")
	assert.Equal(t, 5*ms, come(5*ms, 0, 3), "it is filled")
	assert.Equal(t, 6*ms, come(6*ms, 0, 3), "twice")
	assert.Equal(t, 107*ms, come(7*ms, 1, 6), "another path")
	assert.Equal(t, 7*ms, come(8*ms, 0, 8), "the second")
	r.AppendSACK(nil, 100, 0)
	assert.Equal(t, 109*ms, come(9*ms, 1, 10), "holes mean nothing")
	r.Packet(10*ms, 1, true)
	assert.Equal(t, 9*ms, r.Due(), "the I bit")
	b := r.AppendSACK(nil, chunk.SACKHeader+chunk.SACKItem, 7)
	assert.Len(t, b, chunk.SACKHeader+chunk.SACKItem, "as much as there is room for")
}

// What another path has lost is new to the path that it is sent over now: if it is lost there too, that path is congested.
func TestLossOnTheNextPath(t *testing.T) {
	s := sending(t, Config{Suspect: 1}, 4, 2)
	now := int64(0)
	for s.State(0) == Active {
		now = s.At()
		s.Tick(now)
		if s.State(0) == Active {
			send(s, now)
		}
	}
	require.Subset(t, send(s, now), []int32{0, 1, 2, 3})
	require.Positive(t, s.Path(1).UnderWay())
	require.NoError(t, s.Acknowledge(now+100*ms, sack(t, tsn(-1), 1<<20, gap(2, 4))))
	assert.EqualValues(t, 1, s.Path(1).Congestions)
}

// However many short messages are under way, while the first of them is missing, a receiver takes each.
func TestAllThatIsUnderWayIsTaken(t *testing.T) {
	out, err := stream.NewOutgoing(stream.Sending{Streams: 1})
	require.NoError(t, err)
	for range mostAhead + 100 {
		if err := out.Push(&stream.Message{Pieces: [][]byte{{1}}, Size: 1}); err != nil { // tens of thousands of times
			t.Fatal(err)
		}
	}
	s, r := NewSender(Config{Outgoing: out, TSN: 1, Window: 1 << 30}), NewReceiver(1, Receiving{})
	const packet = 1 << 20 // so that the window has room for all
	s.AddPath(recovery.Config{Packet: packet}, recovery.NewReno(packet))
	sent := 0
	for path, _, ok := s.Next(1); ok; path, _, ok = s.Next(1) {
		for _, c := range s.Take(1, path, chunk.HeaderSize, 1<<16, nil) {
			sent++
			if verdict := r.Check(c.TSN); verdict != Fresh {
				t.Fatalf("chunk %d: %v", sent, verdict)
			}
		}
	}
	require.Equal(t, mostSent, sent)
}
