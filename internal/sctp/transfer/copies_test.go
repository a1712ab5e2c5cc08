package transfer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/recovery"
	"github.com/strandmp/strand/internal/sctp/chunk"
	"github.com/strandmp/strand/internal/sctp/stream"
)

// A wide sender's window has room for two packets at first.
type wide struct {
	*Sender
	t   *testing.T
	now int64
}

const widePacket = 8192

func newWide(t *testing.T, paths int) *wide {
	out, err := stream.NewOutgoing(stream.Sending{Streams: 1})
	require.NoError(t, err)
	w := &wide{t: t, now: 10_000 * ms, Sender: NewSender(Config{Outgoing: out, TSN: firstTSN, Window: 1 << 20})}
	for range paths {
		w.AddPath(recovery.Config{Packet: widePacket, MostProbe: 300 * time.Millisecond}, recovery.NewReno(widePacket))
	}
	return w
}

// push has a message to send that takes a packet.
func (w *wide) push() {
	require.NoError(w.t, w.config.Outgoing.Push(&stream.Message{Size: 8000, Pieces: [][]byte{make([]byte, 8000)}}))
}

// send sends what may be sent, and returns over which paths.
func (w *wide) send() (paths []int) {
	for {
		path, _, ok := w.Next(w.now)
		if !ok || len(w.Take(w.now, path, chunk.HeaderSize, widePacket, nil)) == 0 {
			return paths
		}
		paths = append(paths, path)
	}
}

// wait waits until something is due, and returns over which paths packets leave then.
func (w *wide) wait() (paths []int) {
	at := w.At()
	require.NotZero(w.t, at, "there is nothing to wait for")
	w.now = max(w.now, at)
	w.Tick(w.now)
	return w.send()
}

// confirm has all arrive that was sent.
func (w *wide) confirm() {
	w.now += 100 * ms
	require.NoError(w.t, w.Acknowledge(w.now, sack(w.t, uint32(w.next-1), 1<<20, nil)))
	require.True(w.t, w.Idle())
}

// goesOn pushes a message, and looks whether it is sent.
func (w *wide) goesOn() {
	w.push()
	assert.Equal(w.t, []int{0}, w.send(), "%d bytes are under way, of %d", w.Path(0).UnderWay(), w.Path(0).Window())
}

// A peer is silent for some time. It is sent a chunk again and again, and confirms it in the end: sooner after the latest
// two packets than it can be their answer. Nothing tells what has become of those before.
func TestCopiesThatNobodyTellsOf(t *testing.T) {
	w := newWide(t, 1)
	w.Path(0).Answered(w.now, int64(2*time.Second))
	w.push()
	require.Equal(t, []int{0}, w.send())
	for range 4 {
		require.Equal(t, []int{0}, w.wait(), "a probe")
	}
	w.confirm()
	w.goesOn()
}

// suspicious is one with a chunk on its way over either of two paths, none of which is active.
func suspicious(t *testing.T) *wide {
	w := newWide(t, 2)
	w.push()
	require.Equal(t, []int{0}, w.send())
	w.SetState(w.now, 0, Suspect)
	w.SetState(w.now, 1, Suspect)
	require.Equal(t, []int{0}, w.send())
	require.Equal(t, []int{0}, w.wait())
	w.push()
	require.Equal(t, []int{1}, w.send(), "it has left no probe unanswered")
	return w
}

// So it is where probes over another path have brought the chunk in the end.
func TestCopiesOverAnotherPath(t *testing.T) {
	w := suspicious(t)
	for range 2 {
		require.Equal(t, []int{0, 1}, w.wait(), "the second ones bring the oldest chunk")
	}
	w.confirm()
	w.SetState(w.now, 0, Active) // a heartbeat was answered
	w.goesOn()
}

// While no path is active, what there is goes over one that may carry nothing. As soon as another one is active again it is sent
// over that one.
func TestWhatWentOverAPathThatIsDown(t *testing.T) {
	w := newWide(t, 2)
	w.SetState(w.now, 1, Down) // nobody has ever answered there
	w.push()
	require.Equal(t, []int{0}, w.send())
	require.Equal(t, []int{0}, w.wait())
	w.SetState(w.now, 0, Down)
	require.Equal(t, []int{1}, w.send(), "it has left no probe unanswered")
	require.Equal(t, []int{1}, w.wait())
	w.SetState(w.now, 0, Active) // a heartbeat was answered
	assert.Equal(t, []int{0}, w.send())
	assert.Zero(t, w.Path(1).UnderWay())
}

// Over a path that nobody has ever answered on no data goes, even if the others are down.
func TestNothingGoesOverAnUnconfirmedPath(t *testing.T) {
	for _, multipath := range []bool{false, true} {
		w := newWide(t, 2)
		w.config.Multipath = multipath
		w.SetState(w.now, 1, Unconfirmed)
		w.push()
		require.Equal(t, []int{0}, w.send())
		w.SetState(w.now, 0, Down)
		for range 8 {
			require.NotContains(t, w.wait(), 1)
		}
		w.confirm()
		w.goesOn()
	}
}

// So it is if an acknowledgement shows that a path is back.
func TestWhatWentOverAPathThatIsSuspect(t *testing.T) {
	w := suspicious(t)
	require.NoError(t, w.Acknowledge(w.now+100*ms, sack(t, tsn(0), 1<<20, nil)))
	require.Equal(t, Active, w.State(0))
	assert.Equal(t, []int{0}, w.send())
	assert.Zero(t, w.Path(1).UnderWay())
}
