package tryout

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/strandmp/strand/internal/strangers"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

const (
	// knock is what a guest says at a door before the token. answer is what a door says before
	// its proof and the address that it sees. Each is on a line.
	knock  = "strand-reach 1 "
	answer = "strand-reach 1 ok "
	// tokenSize is the length of a token in hexadecimal digits.
	tokenSize = 32
	// pause is how long a door waits after a guest could not be let in.
	pause = 10 * time.Millisecond
	// mostGuests is how many may be at all doors together.
	mostGuests = 256
)

// Doors are the listening sockets of one host.
type Doors struct {
	token   string
	timeout time.Duration
	ports   []uint16 // by address of the side; 0: it can not be listened on
	open    []net.Listener
	closed  chan struct{}
	began   time.Time
	serving sync.WaitGroup

	mu     sync.Mutex
	guests *strangers.Crowd[net.Conn]
}

// Ports says which ports may be listened on; the zero value leaves it to the system.
type Ports struct{ First, Count int }

// Open opens a door on each address. An address that can not be listened on has port 0. It is an
// error if that holds for all.
func Open(addresses []reach.Address, token string, timeout time.Duration, ports Ports) (*Doors, error) {
	d := &Doors{token: token, timeout: timeout, closed: make(chan struct{}), began: time.Now(), guests: newGuests()}
	var last error
	for _, a := range addresses {
		l, err := listen(a, ports)
		if err != nil {
			last = err
			d.ports = append(d.ports, 0)
			continue
		}
		d.open = append(d.open, l)
		d.ports = append(d.ports, netip.MustParseAddrPort(l.Addr().String()).Port())
	}
	if len(d.open) == 0 {
		return nil, fmt.Errorf("no address can be listened on: %w", last)
	}
	for _, l := range d.open {
		d.serving.Go(func() { d.serve(l) })
	}
	return d, nil
}

func newGuests() *strangers.Crowd[net.Conn] {
	return strangers.New[net.Conn](strangers.Rules{Most: mostGuests, Chance: rand.IntN})
}

// listen takes the first free port.
func listen(a reach.Address, ports Ports) (net.Listener, error) {
	host := wireup.Zoned(a).String()
	for i := range max(ports.Count, 1) {
		port := 0
		if ports.First > 0 {
			port = ports.First + i
		}
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil || i == ports.Count-1 || ports.First == 0 || !anotherMayDo(err) {
			return l, err
		}
	}
	return nil, syscall.EADDRINUSE
}

// anotherMayDo reports whether another port may be free, as a program that listens would see it ([wireup.Bind]): this one is taken, or
// the superuser's.
func anotherMayDo(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EACCES)
}

// Close closes all doors, shows out all guests, and returns when none is left.
func (d *Doors) Close() {
	close(d.closed)
	for _, l := range d.open {
		_ = l.Close()
	}
	d.mu.Lock()
	for _, guest := range d.guests.All() {
		_ = guest.Who.Close()
	}
	d.mu.Unlock()
	d.serving.Wait()
}

func (d *Doors) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			// The guest has gone again, or there is no descriptor for it now.
			select {
			case <-d.closed:
				return
			case <-time.After(pause):
				continue
			}
		}
		place := d.welcome(conn)
		d.serving.Go(func() {
			d.receive(conn)
			d.leave(place)
		})
	}
}

// welcome gives a guest a place. If none is free, another guest is shown out.
func (d *Doors) welcome(conn net.Conn) *strangers.Place[net.Conn] {
	from, _ := netip.ParseAddrPort(conn.RemoteAddr().String()) // the zero address if it has none
	d.mu.Lock()
	defer d.mu.Unlock()
	place, loser := d.guests.Enter(int64(time.Since(d.began)), netip.AddrPortFrom(from.Addr(), 0), conn)
	if loser != nil {
		_ = loser.Who.Close()
	}
	select {
	case <-d.closed:
		_ = conn.Close() // Close has shown out all others already
	default:
	}
	return place
}

func (d *Doors) leave(place *strangers.Place[net.Conn]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	place.Leave()
}

// receive answers a guest, if it knows the token.
func (d *Doors) receive(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(d.timeout)) // fails only if it has gone
	said := make([]byte, len(knock)+tokenSize+1)
	if _, err := io.ReadFull(conn, said); err != nil {
		return
	}
	if subtle.ConstantTimeCompare(said, []byte(knock+d.token+"\n")) != 1 {
		return
	}
	from, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(conn, "%s%s %s\n", answer, proof(d.token), from.Addr().Unmap().WithZone(""))
}

// proof shows that one knows a token.
func proof(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("door"))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
