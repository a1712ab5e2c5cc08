package tryout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/strandmp/strand/reach"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// generous is longer than an attempt within this machine takes.
const generous = 30 * time.Second

func loopback() reach.Side {
	return reach.Side{Network: reach.Network{1}, Addresses: []reach.Address{
		{Prefix: netip.MustParsePrefix("127.0.0.1/8"), Interface: "lo", Index: 1},
		{Prefix: netip.MustParsePrefix("127.0.0.2/8"), Interface: "lo", Index: 1},
		{Prefix: netip.MustParsePrefix("192.0.2.77/24"), Interface: "gone", Index: 2},
	}}
}

// converse runs both ends and returns what each has to say.
func converse(t *testing.T, near, far Host, settings []Setting, refusal error) (Result, Order, error, error) {
	toFar, fromNear := io.Pipe()
	toNear, fromFar := io.Pipe()
	var following sync.WaitGroup
	var order Order
	var farErr error
	following.Go(func() {
		farErr = Follow(t.Context(), toFar, fromFar, func(o Order) (Host, error) {
			order = o
			return far, refusal
		})
		_ = fromFar.Close()
		_ = toFar.Close()
	})
	result, err := Lead(t.Context(), toNear, fromNear, near, generous, settings)
	_ = fromNear.Close()
	_ = toNear.Close()
	following.Wait()
	return result, order, err, farErr
}

func TestBothDirectionsAreTried(t *testing.T) {
	near, far := loopback(), loopback()
	near.Addresses = near.Addresses[:2]
	settings := []Setting{{"btl_tcp_if_include", "lo"}}
	r, order, err, farErr := converse(t, Host{Name: "near", Side: near}, Host{Name: "far\x1b", Side: far}, settings, nil)
	require.NoError(t, err)
	require.NoError(t, farErr)
	assert.Equal(t, settings, order.Settings)
	assert.Equal(t, "far?", r.Peer)
	assert.Equal(t, far.Addresses, r.Side.Addresses)
	require.Len(t, r.Tried, 4, "what is no loopback address is not tried from one that is")
	for _, p := range r.Tried {
		assert.True(t, p.There.Works, p.There)
		assert.True(t, p.Back.Works, p.Back)
		assert.Empty(t, p.There.SeenAs, "the kernel chooses within one network")
	}
}

// An address that can not be listened on is told of, in the direction that it is for.
func TestAddressThatIsGone(t *testing.T) {
	near, far := loopback(), loopback()
	far.Network, far.Addresses = reach.Network{2}, far.Addresses[2:]
	near.Addresses = append(near.Addresses[:1:1], reach.Address{Prefix: netip.MustParsePrefix("192.0.2.78/24"), Interface: "x", Index: 3})
	_, _, err, farErr := converse(t, Host{Side: near}, Host{Side: far}, nil, nil)
	require.ErrorContains(t, farErr, "no address can be listened on")
	require.ErrorContains(t, err, "on the other side: no address can be listened on")

	far.Addresses = append(far.Addresses, loopback().Addresses[0])
	r, _, err, farErr := converse(t, Host{Side: near}, Host{Side: far}, nil, nil)
	require.NoError(t, errors.Join(err, farErr))
	require.Len(t, r.Tried, 1)
	assert.Equal(t, "that address can not be listened on there", r.Tried[0].There.String())
	near.Held = []netip.Addr{netip.MustParseAddr("192.0.2.77")}
	r, _, err, farErr = converse(t, Host{Side: near}, Host{Side: far}, nil, nil)
	require.NoError(t, errors.Join(err, farErr))
	assert.Equal(t, "this host has that address too: it would talk to itself", r.Tried[0].There.String())
}

func TestOtherSideRefuses(t *testing.T) {
	_, _, err, farErr := converse(t, Host{Side: loopback()}, Host{}, nil, errors.New("no interface that is up fits \"eth9\""))
	require.ErrorContains(t, err, "on the other side: no interface that is up fits")
	require.Error(t, farErr)
}

// follower is what a hostile or broken other side says.
type follower struct {
	io.Reader
	closed bool
}

func (f *follower) Close() error { f.closed = true; return nil }

func TestOtherSideTalksNonsense(t *testing.T) {
	text, err := loopback().MarshalText()
	require.NoError(t, err)
	good := fmt.Sprintf(`{"host":"far","side":"%s","ports":[0,0,0]}`, text)
	for says, want := range map[string]string{
		"":                                   "has ended the conversation",
		"bash: strand: command not found\n":  `says "bash: strand: command not found"`,
		`{"host":"far","side":"x"}`:          "not the text form",
		strings.Replace(good, ",0]", "]", 1): "3 addresses and 2 ports",
		`{"error":"no\u001b[2J"}`:            "on the other side: no?[2J",
		good:                                 "has ended the conversation",
		good + "\n" + `{"outcomes":[]}`:      "has tried 0 pairs, not 5",
		good + "\n" + `{"outcomes":7}`:       "would not",
		strings.Repeat("x", maxLine+1):       "token too long",
	} {
		_, err := Lead(t.Context(), &follower{Reader: strings.NewReader(says)}, io.Discard, Host{Side: loopback()}, generous, nil)
		require.ErrorContains(t, err, want, "%.60q", says)
	}
}

func TestOrdersThatAreNone(t *testing.T) {
	never := func(Order) (Host, error) { panic("it is no order") }
	for _, says := range []string{"", "{}", `{"token":"x","timeout":1000000000}`, `{"token":"` + strings.Repeat("0", tokenSize) + `","timeout":1}`} {
		require.Error(t, Follow(t.Context(), strings.NewReader(says), io.Discard, never), says)
	}
	assert.Error(t, CheckTimeout(time.Hour))
	assert.NoError(t, CheckTimeout(time.Second))
}

// knockAt says something at a door and returns what it answers before it closes.
func knockAt(t *testing.T, port uint16, says string) string {
	conn, err := net.Dial("tcp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port).String())
	require.NoError(t, err)
	defer conn.Close()
	_, _ = io.WriteString(conn, says) // it may have closed
	var heard bytes.Buffer
	_, _ = io.Copy(&heard, conn) // likewise
	return heard.String()
}

// A door answers nobody but the one that it was opened for.
func TestStrangersAtADoor(t *testing.T) {
	token := strings.Repeat("ab", tokenSize/2)
	d, err := Open(loopback().Addresses, token, generous, Ports{})
	require.NoError(t, err)
	defer d.Close()
	require.NotZero(t, d.ports[0])
	require.Zero(t, d.ports[2])
	assert.Empty(t, knockAt(t, d.ports[0], knock+strings.Repeat("ba", tokenSize/2)+"\n"))
	assert.Empty(t, knockAt(t, d.ports[0], "GET / HTTP/1.1\r\nHost: x\r\nAccept: everything there is\r\n\r\n"))
	assert.Equal(t, answer+proof(token)+" 127.0.0.1\n", knockAt(t, d.ports[0], knock+token+"\n"))
}

// A host that answers without knowing the token is another one.
func TestAnotherAnswers(t *testing.T) {
	token := strings.Repeat("ab", tokenSize/2)
	for says, want := range map[string]string{
		"SSH-2.0-OpenSSH_9.2\r\n":             "does not know what to say",
		answer + proof("x") + " 127.0.0.1\n":  "does not know what to say",
		answer + proof(token) + " the moon\n": "does not know what to say",
		"":                                    "has closed the connection",
		strings.Repeat("x", 1000):             "has closed the connection",
		answer + proof(token) + " 127.0.0.1\nmore\n": "",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		var answering sync.WaitGroup
		answering.Go(func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadFull(conn, make([]byte, len(knock)+tokenSize+1))
			_, _ = io.WriteString(conn, says)
			_ = conn.Close()
		})
		p := reach.Pair{Local: loopback().Addresses[0], Remote: loopback().Addresses[0], Loopback: true}
		o := try(t.Context(), p, netip.MustParseAddrPort(l.Addr().String()).Port(), token, generous)
		assert.Equal(t, want == "", o.Works)
		assert.Contains(t, o.Why, want)
		require.NoError(t, l.Close())
		answering.Wait()
	}
}

func TestReasonsInWords(t *testing.T) {
	for err, want := range map[error]string{
		context.DeadlineExceeded:                          "no answer in 2s",
		&net.OpError{Err: syscall.ECONNREFUSED}:           "refused",
		&net.OpError{Err: syscall.EHOSTUNREACH}:           "no host with that address answers",
		&net.OpError{Err: syscall.EHOSTDOWN}:              "no host with that address answers",
		&net.OpError{Err: syscall.ENETUNREACH}:            "a firewall on the way rejects", // ICMP, network unreachable or prohibited
		&net.OpError{Err: syscall.ENOPROTOOPT}:            "a firewall rejects",
		&net.OpError{Err: syscall.ENETUNREACH}:            "no route",
		&net.OpError{Err: &net.DNSError{IsTimeout: true}}: "no answer in 2s",
		errors.New("odd"):                                 "odd",
	} {
		assert.Contains(t, explain(err, 2*time.Second), want)
	}
	seen := Outcome{Works: true, Micros: 1500, SeenAs: "10.2.0.1"}
	assert.Equal(t, "works (1.5ms), and arrives as 10.2.0.1: addresses are translated on the way", seen.String())
}

// Ports of a range are taken one after the other.
func TestPortRange(t *testing.T) {
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer probe.Close()
	taken := int(netip.MustParseAddrPort(probe.Addr().String()).Port())
	one := loopback().Addresses[:1]
	_, err = Open(one, "", generous, Ports{First: taken, Count: 1})
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	d, err := Open(one, "", generous, Ports{First: taken, Count: min(65536-taken, 100)})
	require.NoError(t, err)
	assert.Greater(t, int(d.ports[0]), taken)
	d.Close()
}

// fullListener has no room for anybody.
type fullListener struct {
	net.Listener
	asked int
}

func (l *fullListener) Accept() (net.Conn, error) {
	l.asked++
	return nil, syscall.EMFILE
}

// A door that can let nobody in does not keep a processor busy.
func TestNoRoomAtADoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, l := &Doors{guests: newGuests(), closed: make(chan struct{})}, &fullListener{}
		d.serving.Go(func() { d.serve(l) })
		<-time.After(time.Second)
		d.Close()
		assert.LessOrEqual(t, l.asked, int(time.Second/pause)+1)
		assert.GreaterOrEqual(t, l.asked, 2, "it goes on")
	})
}
