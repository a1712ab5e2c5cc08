package sctp

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/test/leak"
)

// An outgoing packet with data, as its last chunk has it.
type outgoing struct {
	tsn     uint32
	control bool // a chunk of it is of the control stream
	urgent  bool // the I bit of RFC 7053
}

// A wiretap notes the packets that have data.
type wiretap struct {
	mu   sync.Mutex
	seen []outgoing
}

func (w *wiretap) pass(packet []byte) bool {
	const head, data, iData, immediate = 12, 0, 64, 8
	w.mu.Lock()
	defer w.mu.Unlock()
	be := binary.BigEndian
	var last []byte
	control := false
	for b := packet[head:]; len(b) >= 4; b = b[min((int(be.Uint16(b[2:]))+3)&^3, len(b)):] {
		if b[0] == data || b[0] == iData {
			last = b
			control = control || be.Uint16(b[8:]) == controlStream
		}
	}
	if last != nil {
		w.seen = append(w.seen, outgoing{be.Uint32(last[4:]), control, last[1]&immediate != 0})
	}
	return true
}

// packets are those noted so far.
func (w *wiretap) packets() []outgoing {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]outgoing(nil), w.seen...)
}

// A sender that has to wait for an acknowledgement asks for it at once: for a message
// about the connection, and for a packet behind which the congestion window lets nothing
// more out. It does not ask otherwise.
func TestImmediateAcknowledgement(t *testing.T) {
	for _, interleave := range []string{"on", "off"} {
		t.Run("interleave "+interleave, func(t *testing.T) {
			leak.Check(t)
			small := []int{0, 1}
			a, b := newNode(t, 0, with(pInterleave, interleave), with(pLoopbackMTU, "1440")), newNode(t, 1, with(pInterleave, interleave), with(pLoopbackMTU, "1440"))
			w := new(wiretap)
			a.stack().Filter(w.pass)
			join(t, a, b)
			for i := range small {
				a.send(fmt.Sprint("small ", i), 0, b)
				await(t, "a small frame", func() bool { return len(b.frames) > i }, a, b)
			}
			sent := map[uint32]bool{}
			for _, p := range w.packets() {
				if sent[p.tsn] {
					continue // what is sent again asks
				}
				sent[p.tsn] = true
				assert.Equal(t, p.control, p.urgent, "before the window is full: %+v", p)
			}
			b.stack().Filter(func([]byte) bool { return false }) // no acknowledgement
			before := len(w.packets())
			a.send(strings.Repeat("x", 60_000), 0, b)
			await(t, "a packet that fills the window and asks", func() bool {
				all := w.packets()
				return len(all) > before+1 && all[len(all)-1].urgent
			}, a, b)
			asked := 0
			for _, p := range w.packets()[before:] {
				if p.urgent {
					asked++
				}
			}
			t.Logf("%d packets of a long frame fill the window; %d ask", len(w.packets())-before, asked)
			b.stack().Filter(func([]byte) bool { return true })
			await(t, "the long frame", func() bool { return len(b.frames) > len(small) }, a, b)
		})
	}
}
