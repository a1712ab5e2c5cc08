package sm

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/param"
)

// Random programs over rings from the smallest to the usual one, against a model: both sides send frames whose sizes are around every border, look
// for what has come or do not, take frames back, sleep until they are woken, and part. Whatever arrives is what was sent, once and in
// order. What was taken and not recalled arrives; memory that was given back is the program's; what is kept is there until it was read;
// and nobody sleeps who has something to do.
func TestRandomTraffic(t *testing.T) {
	for seed := range need.Seeds(t, 25, 20_000) {
		t.Run("", func(t *testing.T) { newTraffic(t, seed).run() })
	}
}

// A shipment is a frame that was given to an endpoint.
type shipment struct {
	frame           *btl.Frame
	header, payload string
	held            bool // by the endpoint
	excused         bool // it was recalled while it was held, or the connection has ended: it may be lost
	arrived         bool
	kept            bool // at that place
	place           uint64
}

// A trafficSide is one of a traffic's two.
type trafficSide struct {
	sent     []*shipment
	first    int // of those that have not arrived, and may
	seen     int // of the frames that have arrived here
	freed    int // of those that were released
	asleep   bool
	refused  bool // it was told to wait
	writable int  // calls of Writable when it was
}

type traffic struct {
	*rand.Rand
	*pair
	seed  uint64
	sides [2]trafficSide
	frame int
}

func newTraffic(t *testing.T, seed uint64) *traffic {
	set := func(name, value string) param.Setting {
		return param.Setting{Name: name, Text: value, Source: param.Source{Kind: param.Option, Where: "test"}}
	}
	r := rand.New(rand.NewPCG(seed, 0x7AF))
	copies := []string{"cma", "none"}[r.IntN(2)]
	ring := []string{"32K", "64K", "128K", "256K"}[r.IntN(4)]
	m := &traffic{Rand: r, seed: seed, pair: connect(t, set(pFboxSize, ring), set(pMaxSendSize, "100K"), set(pSingleCopy, copies))}
	for i, recv := range m.recv {
		recv.Frames = nil
		m.sides[i].writable = recv.Writables
	}
	return m
}

// size draws the length of a payload behind a header.
func (m *traffic) size(header int) int {
	borders := []int{0, 8, line, 2 * line, slotRoom - header, bunchMost - wordSize - header, 4 << 10, 8 << 10, wholeLimit - wordSize - header, 4 * smallPiece,
		minRing / slotShare, minRing - minRing/slotShare, 100 << 10}
	n := borders[m.IntN(len(borders))] + m.IntN(5) - 2
	switch m.IntN(4) {
	case 0:
		n = m.IntN(slotRoom)
	case 1:
		n = m.IntN(1 << m.IntN(17))
	}
	return max(min(n, 100<<10), 0)
}

// ship is a frame with bytes that few others have.
func (m *traffic) ship() *shipment {
	m.frame++
	b := make([]byte, 1+m.IntN(btl.MaxHeader))
	for i := range b {
		b[i] = byte(m.frame >> (8 * (i % 4)))
	}
	f := &btl.Frame{Header: b}
	if f.Size = m.size(len(b)); f.Size > 0 {
		f.Payload = make([]byte, f.Size)
		for i := range f.Payload {
			f.Payload[i] = byte(m.frame + i*i>>3 + i)
		}
	}
	s := &shipment{frame: f, header: string(f.Header), payload: string(f.Payload)}
	if f.Size > 1 && m.IntN(8) == 0 {
		at := m.IntN(f.Size)
		f.Payload, f.More = f.Payload[:at:at], [][]byte{f.Payload[at:]}
	}
	return s
}

// spoil is the program's use of memory that is its own again.
func (s *shipment) spoil() {
	s.held = false
	clear(s.frame.Header)
	clear(s.frame.Payload)
	for _, b := range s.frame.More {
		clear(b)
	}
}

// send has a side send.
func (m *traffic) send(i int) {
	side, s := &m.sides[i], m.ship()
	switch m.ep[i].Send(s.frame, 0) {
	case btl.Done:
		if s.kept = s.frame.Size <= btl.MostKept; s.kept {
			s.place = m.ep[i].Kept(s.frame)
		}
		s.spoil()
	case btl.Taken:
		s.held = true
	case btl.Busy:
		side.refused = true
		return
	default:
		require.Fail(m.t, "broken")
	}
	side.sent = append(side.sent, s)
}

// note compares what has arrived with what was sent, and takes back what was released.
func (m *traffic) note(i int) {
	side, from := &m.sides[i], &m.sides[1-i]
	for _, got := range m.recv[i].Frames[side.seen:] {
		for ; ; from.first++ {
			require.Less(m.t, from.first, len(from.sent), "seed %d: %d bytes that nobody has sent, or twice", m.seed, len(got.Payload))
			s := from.sent[from.first]
			if s.header == got.Header && s.payload == got.Payload {
				break
			}
			require.True(m.t, s.excused, "seed %d: %d bytes behind a header of %d where %d behind %d are due", m.seed, len(got.Payload), len(got.Header), len(s.payload), len(s.header))
		}
		from.sent[from.first].arrived = true
		from.first++
	}
	side.seen = len(m.recv[i].Frames)
	for _, f := range m.recv[i].Freed[side.freed:] {
		for _, s := range side.sent {
			if s.frame == f {
				require.True(m.t, s.held, "seed %d: released twice, or though it was recalled", m.seed)
				s.spoil()
			}
		}
	}
	side.freed = len(m.recv[i].Freed)
	if side.refused && m.recv[i].Writables > side.writable {
		side.refused = false
	}
	if !side.refused {
		side.writable = m.recv[i].Writables
	}
}

// look has a side poll in one of the ways, or be woken, if anybody has. It reports whether there was anything.
func (m *traffic) look(i int) (did bool) {
	side := &m.sides[i]
	if side.asleep {
		if !m.rung(i) {
			return false
		}
		side.asleep = false
		m.modules[i].Wake()
	}
	switch m.IntN(4) {
	case 0:
		did = m.ep[i].event()
	case 1:
		did = m.ep[i].Poll()
	case 2:
		did = m.modules[i].Progress()
	default:
		did = m.ep[i].receive()
	}
	m.note(i)
	return did
}

// recall has a side take back what its endpoint holds.
func (m *traffic) recall(i int) {
	m.ep[i].Recall()
	for _, s := range m.sides[i].sent {
		if s.held {
			s.excused = true
			s.spoil()
		}
	}
}

// again looks at what is kept of the last frames.
func (m *traffic) again(i int) {
	m.note(1 - i)
	sent := m.sides[i].sent
	for _, s := range sent[max(len(sent)-2*minRing/slotShare/slotSize, 0):] {
		if !s.kept {
			continue
		}
		if b := make([]byte, len(s.payload)); m.ep[i].Again(s.place, b) {
			require.True(m.t, s.payload == string(b), "seed %d: %d bytes are not those that were kept", m.seed, len(b))
		} else {
			require.True(m.t, s.arrived, "seed %d: it is kept until it was read", m.seed)
		}
	}
}

func (m *traffic) step() {
	i := m.IntN(2)
	switch n := m.IntN(100); {
	case n < 45:
		for range 1 << m.IntN(7) {
			m.send(i)
		}
	case n < 85:
		for range 1 << m.IntN(7) {
			m.look(i)
		}
	case n < 88:
		m.loop.Turn()
	case n < 89:
		m.recall(i)
	case n < 93:
		m.again(i)
	default:
		if !m.sides[i].asleep {
			m.sides[i].asleep = m.modules[i].Doze()
		}
	}
}

// settle has everything arrive. Who sleeps and is not woken does nothing.
func (m *traffic) settle() {
	for idle := 0; idle < 50; idle++ {
		for i := range m.sides {
			if m.look(i) {
				idle = 0
			}
		}
		m.loop.Turn()
	}
	for i := range m.sides {
		side := &m.sides[i]
		for _, s := range side.sent[side.first:] {
			require.True(m.t, s.excused, "seed %d: rank %d has sent %d bytes that have not arrived (asleep: %v, %v)", m.seed, i, len(s.payload), m.sides[0].asleep, m.sides[1].asleep)
		}
		for _, s := range side.sent {
			require.False(m.t, s.held, "seed %d: rank %d has not got %d bytes back", m.seed, i, len(s.payload))
		}
		require.False(m.t, side.refused, "seed %d: rank %d waits for room", m.seed, i)
	}
}

func (m *traffic) run() {
	for range 1 + m.IntN(3) {
		for range 1 + m.IntN(60) {
			m.step()
		}
		if m.IntN(2) == 0 {
			m.settle()
		}
	}
	m.part()
}

// part has one side leave, or the connection break.
func (m *traffic) part() {
	i := m.IntN(2)
	leaves := m.IntN(2) == 0
	for _, s := range m.sides[1-i].sent {
		s.excused = true
	}
	for k := range m.sides {
		m.modules[k].Wake()
	}
	if leaves {
		require.NoError(m.t, m.ep[i].Close())
	} else {
		require.NoError(m.t, sever(m.ep[i]))
		for _, s := range m.sides[i].sent {
			s.excused = true
		}
	}
	for _, s := range m.sides[i].sent {
		if leaves && s.held {
			s.spoil()
		}
	}
	m.until("the end", func() bool {
		m.note(1 - i)
		return m.recv[1-i].Downs == 1
	})
	m.note(1 - i)
	for _, s := range m.sides[i].sent[m.sides[i].first:] {
		require.True(m.t, s.excused, "seed %d: %d bytes were lost with the end (leaves: %v), %v", m.seed, len(s.payload), leaves, m.recv[1-i].Err)
	}
	if leaves {
		require.ErrorIs(m.t, m.recv[1-i].Err, btl.ErrPeerClosed)
	}
}
