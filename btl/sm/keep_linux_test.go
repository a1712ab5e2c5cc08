package sm

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
)

// saver is a receiver that reads again what is kept when that is about to go away.
type saver struct {
	*btltest.Receiver
	ep     *endpoint
	places []uint64
	saved  [][]byte
}

func (s *saver) Save() {
	for _, place := range s.places {
		b := make([]byte, 1000)
		if !s.ep.Again(place, b) {
			b = nil
		}
		s.saved = append(s.saved, b)
	}
}

// However a connection ends, what it keeps can be read before.
func TestWhatIsKeptIsSaved(t *testing.T) {
	for name, end := range map[string]func(*pair){
		"closed":  func(p *pair) { require.NoError(t, p.ep[0].Close()) },
		"aborted": func(p *pair) { p.ep[0].Abort() },
		"lost": func(p *pair) {
			p.ep[1].Abort()
			p.until("down", func() bool { return p.recv[0].Downs == 1 })
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := connect(t)
			s := &saver{Receiver: p.recv[0], ep: p.ep[0]}
			p.ep[0].Recv = s
			for i := range byte(3) {
				f := frame(1000)
				copy(f.Payload, bytes.Repeat([]byte{i + 1}, 1000))
				require.Equal(t, btl.Done, p.ep[0].Send(f, 0))
				s.places = append(s.places, p.ep[0].Kept(f))
				clear(f.Payload)
			}
			end(p)
			require.Len(t, s.saved, 3)
			for i, b := range s.saved {
				require.Equal(t, bytes.Repeat([]byte{byte(i) + 1}, 1000), b)
			}
		})
	}
}
