package wireup

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/param"
)

// Who says what has become of an attempt before Dial has returned is told so in words.
func TestWordFromWithinDial(t *testing.T) {
	for name, say := range map[string]func(*Pending){
		"Up":    (*Pending).Up,
		"Ended": func(p *Pending) { p.Ended(io.EOF) },
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, "Pending."+name+" was called from within Transport.Dial") {
					t.Errorf("%s: %s", name, said)
				}
			}()
			say(&Pending{owner: new(dial)})
		}()
	}
}

// What is told of an attempt that Dial has refused is not about the next one.
func TestWordOfAnAttemptThatIsOver(t *testing.T) {
	h := btltest.NewHost(t, 0, 2, nameless{})
	once := new(refusesOnce)
	m := NewManager(h, once, Config{Name: "yours", Retries: 3, ConnectTimeout: time.Minute})
	ep, err := m.Connect(btl.Peer{Rank: 1}, btl.Path{Private: modelWay{}}, h.NewReceiver(1))
	if err != nil {
		t.Fatal(err)
	}
	ep.Send(nil, 0)
	h.Clock.Advance(time.Second)
	once.told[0].Ended(io.EOF)
	if tries := ep.(*bareEndpoint).Tries(); len(once.told) != 2 || tries != 1 {
		t.Errorf("%d attempts were made and %d failed", len(once.told), tries)
	}
}

type nameless struct{ btl.Component }

func (nameless) Declare(*param.Registry) {}

// refusesOnce fails the first attempt and answers no other.
type refusesOnce struct {
	Transport
	told []*Pending
}

func (r *refusesOnce) NewEndpoint() Endpoint { return new(bareEndpoint) }

func (r *refusesOnce) Dial(p *Pending, _ Way) (Link, error) {
	if r.told = append(r.told, p); len(r.told) == 1 {
		return nil, syscall.ECONNREFUSED
	}
	return noLink{}, nil
}

type noLink struct{ Link }

// bareEndpoint is what Conn makes of an endpoint, and no more.
type bareEndpoint struct{ Conn }

func (e *bareEndpoint) Send(*btl.Frame, int) btl.Result    { return e.Connect() }
func (e *bareEndpoint) Prepare(Link)                       {}
func (e *bareEndpoint) Start(Link, []byte, Greeting) error { return nil }
func (e *bareEndpoint) Ready()                             {}
func (e *bareEndpoint) Detach(End)                         {}
func (e *bareEndpoint) Addresses() (local, remote string)  { return "", "" }
func (e *bareEndpoint) InFlight() int                      { return -1 }

// noWay is a module whose paths hold something else than a Way.
type noWay struct{ Transport }

// A path is refused with what is wrong about it.
func TestPathOfAnotherKind(t *testing.T) {
	m := NewManager(noHost{}, noWay{}, Config{Name: "yours"})
	_, err := m.Connect(btl.Peer{Rank: 1}, btl.Path{Desc: "there", Private: netip.AddrPort{}}, nil)
	if err == nil || !strings.Contains(err.Error(), `path "there" is a netip.AddrPort and no wireup.Way`) {
		t.Error(err)
	}
}

type noHost struct{ btl.Host }

func (noHost) Loop() btl.Loop { return nil }

// Where messages may be anybody's, one that proves nothing does not end the attempts, though the right answer does not come
// in time either. Another version does: a process of that can not prove it.
func TestMessageThatProvesNothingEndsNoAttempts(t *testing.T) {
	challenge := make([]byte, 72)
	copy(challenge, "STRA\x02\x00")
	older := make([]byte, 72)
	copy(older, "STRA\x01\x00")
	for name, c := range map[string]struct {
		says     []byte
		attempts int
	}{
		"no message of a handshake": {make([]byte, 72), 2},
		"no proof":                  {challenge, 2},
		"another version":           {older, 1},
	} {
		h, m := newPorch(t)
		m.Retries, m.Repeat = 3, 50*time.Millisecond
		p, _ := h.dial(t, m)
		p.Bytes(c.says)
		for range 12 { // step by step: one that is much too late would have a moment more
			h.Clock.Advance(100 * time.Millisecond)
		}
		if len(h.dialed) != c.attempts {
			t.Errorf("%s: %d attempts", name, len(h.dialed))
		}
	}
}
