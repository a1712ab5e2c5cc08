package strandtest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/openfiles"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/strandtest"
)

// A siege is a job whose listening ports are known to strangers.
type siege struct {
	t     *testing.T
	ranks int
	ports chan int
	over  atomic.Bool

	mu       sync.Mutex
	warnings int
	ends     []string // of connections of the job
}

var listening = regexp.MustCompile(`listening on port (\d+)`)

// log reads what the ranks tell.
func (s *siege) log(level btl.LogLevel, line string) {
	if m := listening.FindStringSubmatch(line); m != nil {
		port, _ := strconv.Atoi(m[1])
		s.ports <- port
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if level == btl.LogWarn {
		s.warnings++
	}
	if strings.Contains(line, ": failed ") && !s.over.Load() {
		s.ends = append(s.ends, line)
	}
}

// An intruder does something to one connection and returns when it is over, or at
// once if it only wants to be there.
type intruder struct {
	name   string
	times  int
	attack func(c net.Conn)
}

// swallow reads until the connection ends.
func swallow(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func intruders() []intruder {
	room := max((openfiles.Limit()-2000)/2, 200)
	return []intruder{
		{"silent", min(need.Times(2000, 10_000), room), func(net.Conn) {}},
		{"garbage", need.Times(100, 5000), func(c net.Conn) {
			b := make([]byte, 4096)
			for i := range b {
				b[i] = byte(rand.Uint32())
			}
			_, _ = c.Write(b)
			swallow(c)
		}},
		{"without the secret", need.Times(100, 5000), func(c net.Conn) {
			to, _ := netip.ParseAddrPort(c.RemoteAddr().String())
			id := handshake.NewIdentity("a job", []byte("a secret"), 1)
			_, _ = c.Write(id.NewConnector(handshake.Request{From: 1, To: 0, Epoch: 1, Target: to}, nil, nil, nil, [handshake.NonceSize]byte{}).Hello())
			swallow(c)
		}},
		{"oversize", need.Times(20, 500), func(c net.Conn) {
			_, _ = c.Write(bytes.Repeat([]byte("STRD\x01\x00\xff\xff"), 1<<17))
			swallow(c)
		}},
		{"slow", need.Times(2, 20), func(c net.Conn) {
			for _, b := range bytes.Repeat([]byte("STRD"), 27) {
				_, err := c.Write([]byte{b})
				_ = c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
				if _, end := c.Read(make([]byte, 1)); err != nil || errors.Is(end, io.EOF) {
					return
				}
			}
		}},
	}
}

// attack sends one kind of intruder to the ports by turns, and leaves when all of
// them have come to nothing.
func (s *siege) attack(kind intruder, ports []int) {
	var open []net.Conn
	for i := range kind.times {
		c, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[i%len(ports)])), 30*time.Second)
		if err != nil {
			s.t.Errorf("%s: %v", kind.name, err)
			break
		}
		_ = c.SetDeadline(time.Now().Add(30 * time.Second)) // a watchdog
		kind.attack(c)
		open = append(open, c)
	}
	for _, c := range open {
		_ = c.Close()
	}
}

// storm lets all of them come at once.
func (s *siege) storm() {
	var ports []int
	for range s.ranks {
		select {
		case port := <-s.ports:
			ports = append(ports, port)
		case <-s.t.Context().Done():
			return // the job has not come up
		}
	}
	var stay sync.WaitGroup
	for _, kind := range intruders() {
		stay.Go(func() { s.attack(kind, ports) })
	}
	stay.Wait()
	s.over.Store(true)
}

// work passes messages around a ring until rank 0 finds that the siege is over.
func (s *siege) work(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	next, prev := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	sizes := []int{8, 4 << 10, 100 << 10, 1 << 20}
	in, out := make([]byte, 1<<20), make([]byte, 1<<20)
	for round, last := 0, false; !last; round++ {
		n := sizes[round%len(sizes)]
		fill(out[:n], c.Rank(), round)
		if _, err := c.Sendrecv(ctx, out[:n], next, round%7, in[:n], prev, round%7); err != nil {
			return err
		}
		fill(out[:n], prev, round)
		require.True(s.t, bytes.Equal(out[:n], in[:n]), "rank %d, round %d of %d bytes", c.Rank(), round, n)
		var err error
		if last, err = s.agree(ctx, c, next, prev); err != nil {
			return err
		}
	}
	return nil
}

// agree tells all ranks whether it is over.
func (s *siege) agree(ctx context.Context, c *strand.Comm, next, prev int) (bool, error) {
	word := []byte{0}
	if c.Rank() == 0 {
		if s.over.Load() {
			word[0] = 1
		}
		return word[0] == 1, c.Send(ctx, word, next, 9)
	}
	if _, err := c.Recv(ctx, word, prev, 9); err != nil {
		return false, err
	}
	if next == 0 {
		return word[0] == 1, nil
	}
	return word[0] == 1, c.Send(ctx, word, next, 9)
}

func fill(b []byte, rank, round int) {
	for i := range b {
		b[i] = byte(i*7 + rank*31 + round)
	}
}

// A job goes on as if nothing were, while strangers of all sorts come to the ports
// of its ranks.
func TestIntruders(t *testing.T) {
	s := &siege{t: t, ranks: 3, ports: make(chan int, 3)}
	start := time.Now()
	var storm sync.WaitGroup
	t.Cleanup(storm.Wait)
	storm.Go(s.storm)
	strandtest.Run(t, s.ranks, s.work, strand.WithLog(s.log), strand.WithParam("verbose", "1"))
	assert.Empty(t, s.ends, "no connection of the job has ended")
	assert.NotZero(t, s.warnings, "they were noticed")
	most := s.ranks * (1 + int(time.Since(start)/time.Second))
	assert.LessOrEqual(t, s.warnings, most, "one line a second and rank at most")
}

// Somebody who knows the job's name and how a handshake goes, but not the secret that rank 0
// has put for the ranks, gets no answer. Somebody who has the secret from the launcher's
// channel gets one. But the acceptor's proof is nothing to him without the private key of the
// rank that he plays.
func TestNameIsNoProof(t *testing.T) {
	jobs := strandtest.NewJobs(2)
	s := &siege{t: t, ports: make(chan int, len(jobs))}
	var opening sync.WaitGroup
	for _, job := range jobs {
		opening.Go(func() {
			w, err := strand.Init(t.Context(), strand.WithJob(job), strand.WithLog(s.log), strand.WithParam("verbose", "1"))
			if assert.NoError(t, err) {
				t.Cleanup(func() { assert.NoError(t, w.Close()) })
			}
		})
	}
	opening.Wait()
	require.False(t, t.Failed(), "not all ranks have a port")
	secret, err := jobs[0].Get(t.Context(), "strand-secret")
	require.NoError(t, err)
	answers := map[string]int{}
	for range jobs {
		to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(<-s.ports))
		for rank := range jobs {
			for _, known := range []string{string(make([]byte, 32)), secret} {
				answers[known] += provesTo(t, handshake.NewIdentity(jobs[0].Name(), []byte(known), 1-rank).Over("tcp"), rank, to)
			}
		}
	}
	require.Equal(t, len(jobs), answers[secret], "each acceptor answers a hello for its own rank")
	require.Zero(t, answers[string(make([]byte, 32))])
}

// provesTo has somebody say hello to a rank, and fails the test if the answer convinces him.
// It returns how many answers there were.
func provesTo(t *testing.T, id *handshake.Identity, rank int, to netip.AddrPort) int {
	c, err := net.DialTimeout("tcp", to.String(), 30*time.Second)
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	require.NoError(t, c.SetDeadline(time.Now().Add(30*time.Second)))
	r := handshake.Request{From: 1 - rank, To: rank, Epoch: 1, Target: to}
	machine := id.NewConnector(r, make([]byte, handshake.KeySize), nil, nil, [handshake.NonceSize]byte{1})
	_, err = c.Write(machine.Hello())
	require.NoError(t, err)
	challenge := make([]byte, machine.Need())
	if _, err := io.ReadFull(c, challenge); err != nil {
		return 0 // another rank's port, or somebody who is no rank
	}
	_, _, err = machine.Feed(challenge)
	require.ErrorIs(t, err, handshake.ErrProof)
	return 1
}
