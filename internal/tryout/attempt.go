package tryout

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/strandmp/strand/reach"
)

// An Outcome is what became of one attempt.
type Outcome struct {
	// Works: the peer's door was reached.
	Works bool `json:"works"`
	// Micros is how long connecting took, in microseconds.
	Micros int64 `json:"microseconds,omitempty"`
	// SeenAs is the address from which the attempt came there, if it is not the one that the
	// attempt was made from.
	SeenAs string `json:"seen_as,omitempty"`
	// Why it does not work, in words.
	Why string `json:"why,omitempty"`
}

// String says it in a few words.
func (o Outcome) String() string {
	switch {
	case !o.Works:
		return o.Why
	case o.SeenAs != "":
		return fmt.Sprintf("works (%v), and arrives as %s: addresses are translated on the way", o.took(), o.SeenAs)
	}
	return fmt.Sprintf("works (%v)", o.took())
}

func (o Outcome) took() time.Duration { return time.Duration(o.Micros) * time.Microsecond }

// A way is a pair of addresses to try, by their numbers in the sides' lists.
type way struct{ local, remote int }

// waysBetween lists the pairs that could work at all: of one family, and both loopback or
// neither. Loopback addresses of two different hosts are left out. It uses only what both sides
// know, so that both list the same.
func waysBetween(local, remote reach.Side) (ways []way) {
	apart := local.Network.Differs(remote.Network)
	for i, l := range local.Addresses {
		for j, r := range remote.Addresses {
			from, to := l.Addr(), r.Addr()
			switch {
			case from.Is4() != to.Is4(), from.IsLoopback() != to.IsLoopback():
			case from.IsLoopback() && apart:
			default:
				ways = append(ways, way{i, j})
			}
		}
	}
	return ways
}

func holds(s reach.Side, ip netip.Addr) bool {
	for _, a := range s.Addresses {
		if a.Addr() == ip {
			return true
		}
	}
	for _, held := range s.Held {
		if held == ip {
			return true
		}
	}
	return false
}

// atOnce is how many attempts are under way at a time.
const atOnce = 128

// tryAll tries all ways from one side to the doors of the other and returns what
// became of each.
func tryAll(ctx context.Context, ways []way, local, remote reach.Side, ports []uint16, token string, timeout time.Duration) []Outcome {
	outcomes := make([]Outcome, len(ways))
	same, apart := local.Network.Same(remote.Network), local.Network.Differs(remote.Network)
	room := make(chan struct{}, atOnce)
	var trying sync.WaitGroup
	for i, w := range ways {
		room <- struct{}{}
		trying.Go(func() {
			pair := reach.Pair{Local: local.Addresses[w.local], Remote: remote.Addresses[w.remote], Loopback: same}
			if apart && holds(local, pair.Remote.Addr()) {
				outcomes[i] = Outcome{Why: "this host has that address too: it would talk to itself"}
			} else {
				outcomes[i] = try(ctx, pair, ports[w.remote], token, timeout)
			}
			<-room
		})
	}
	trying.Wait()
	return outcomes
}

// try makes one attempt.
func try(ctx context.Context, p reach.Pair, port uint16, token string, timeout time.Duration) Outcome {
	if port == 0 {
		return Outcome{Why: "that address can not be listened on there"}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	dialer := net.Dialer{}
	if from := p.Source(); from.IsValid() {
		dialer.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
	}
	start := time.Now()
	conn, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(p.Target(), port).String())
	if err != nil {
		return Outcome{Why: explain(err, timeout)}
	}
	took := time.Since(start)
	defer func() { _ = conn.Close() }()
	seen, err := greet(conn, token, start.Add(timeout))
	if err != nil {
		return Outcome{Why: fmt.Sprintf("another host, or another program, answers there (%v)", err)}
	}
	o := Outcome{Works: true, Micros: max(took.Microseconds(), 1)}
	if !p.Loopback && seen != p.Local.Addr() {
		o.SeenAs = seen.String()
	}
	return o
}

var errNoDoor = errors.New("it does not know what to say")

// greet says the token and returns the address as which the peer sees this host.
func greet(conn net.Conn, token string, deadline time.Time) (seen netip.Addr, err error) {
	_ = conn.SetDeadline(deadline) // fails only if the peer has gone
	if _, err := io.WriteString(conn, knock+token+"\n"); err != nil {
		return seen, plain(err)
	}
	const longest = int64(len(answer) + tokenSize + 64)
	line, err := bufio.NewReader(io.LimitReader(conn, longest)).ReadString('\n')
	if err != nil {
		return seen, plain(err)
	}
	text, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), answer+proof(token)+" ")
	if !found {
		return seen, errNoDoor
	}
	if seen, err = netip.ParseAddr(text); err != nil {
		return seen, errNoDoor
	}
	return seen, nil
}

// plain makes an error without addresses, which the caller shows.
func plain(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errors.New("it has closed the connection")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("it says nothing")
	}
	return err
}

// explain says in words why no connection came about.
func explain(err error, timeout time.Duration) string {
	for _, known := range []struct {
		err  error
		says string
	}{
		{context.DeadlineExceeded, fmt.Sprintf("no answer in %v: the networks are not joined, there is no way back, or a firewall drops", timeout)},
		{os.ErrDeadlineExceeded, fmt.Sprintf("no answer in %v: the networks are not joined, there is no way back, or a firewall drops", timeout)},
		{syscall.ETIMEDOUT, "no answer: the networks are not joined, there is no way back, or a firewall drops"},
		{syscall.ECONNREFUSED, "refused: another host has that address here, or a firewall rejects"},
		{syscall.EHOSTUNREACH, "no host with that address answers on the network: the networks are not joined, or a firewall rejects"},
		{syscall.EHOSTDOWN, "no host with that address answers on the network: the networks are not joined"},
		{syscall.ENETUNREACH, "the kernel has no route, or a firewall on the way rejects"},
		{syscall.ENOPROTOOPT, "a firewall rejects"},
		{syscall.EADDRNOTAVAIL, "the address to connect from is gone, or has no free port"},
		{syscall.EACCES, "not allowed: a firewall on the way rejects it, or a policy of this host forbids it"},
		{syscall.EPERM, "not allowed: a firewall of this host rejects it"},
		{syscall.EINVAL, "the kernel does not connect these two addresses"},
	} {
		if errors.Is(err, known.err) {
			return known.says
		}
	}
	if timeoutError := net.Error(nil); errors.As(err, &timeoutError) && timeoutError.Timeout() {
		return fmt.Sprintf("no answer in %v: the networks are not joined, there is no way back, or a firewall drops", timeout)
	}
	return err.Error()
}
