//go:build linux

package nettest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/testnet"
)

// A Role is what a rank does.
type Role = func(context.Context, *strand.World) error

// roleFlag makes a test binary a rank instead of a test.
const roleFlag = "-nettest.role="

// Main is the TestMain of a package whose jobs are of ranks that play roles of the test program
// itself. It does not return. Each rank prepares itself before its world is made.
func Main(m *testing.M, roles map[string]Role, prepare ...func() error) {
	if name, ok := strings.CutPrefix(os.Args[len(os.Args)-1], roleFlag); ok && len(os.Args) == 2 {
		if err := beRank(roles[name], prepare); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// Most tests that may run beside others wait, for what networks take their time with: more
	// of them do so at a time than there are processors, unless -parallel says otherwise.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	testnet.Main(m)
}

func beRank(role Role, prepare []func() error) error {
	for _, f := range prepare {
		if err := f(); err != nil {
			return err
		}
	}
	return strand.Run(context.Background(), role)
}

// Play makes a job of ranks that play a role of this test program, over the
// transports that every program has.
func Play(role string, placement []*testnet.Host, env ...string) Job {
	return Job{Placement: placement}.Playing(role, env...)
}

// Playing returns the job with ranks that do so.
func (j Job) Playing(role string, env ...string) Job {
	j.Program, j.Args, j.Env = fmt.Sprintf("/proc/%d/exe", os.Getpid()), []string{roleFlag + role}, env
	return j
}

// Untold returns the job as it runs under a launcher that speaks nothing but PMI-1.
func (j Job) Untold() Job {
	j.Args = append([]string{"-u", "STRAND_LAUNCH_CONTROL_FD", j.Program}, j.Args...)
	j.Program = "env"
	return j
}

// Hosts returns two hosts of a new network.
func Hosts(t *testing.T) (n *testnet.Net, a, b *testnet.Host) {
	n = testnet.New(t)
	return n, n.Host("a"), n.Host("b")
}

// rounds of the ring.
const rounds = 20

// sizes of the messages in turn, beside the count, in bytes.
var sizes = []int{0, 1000, 100 << 10, 1 << 20}

// Ring passes a count around, with more and less load. Every rank adds one. At
// the end each tells what it has seen, and by which ways it came.
func Ring(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	next, previous := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	for round := range rounds {
		load := bytes.Repeat([]byte{byte(round + 1)}, sizes[round%len(sizes)])
		token := make([]byte, 1+len(load))
		copy(token[1:], load)
		if c.Rank() == 0 {
			token[0] = 1
			if err := c.Send(ctx, token, next, round); err != nil {
				return err
			}
			clear(token)
		}
		st, err := c.Recv(ctx, token, previous, round)
		if err != nil {
			return err
		}
		want := c.Rank()
		if want == 0 {
			want = c.Size()
		}
		if st.Count != len(token) || int(token[0]) != want || !bytes.Equal(token[1:], load) {
			return fmt.Errorf("round %d: %d bytes with count %d: want %d with count %d, or the load differs", round, st.Count, token[0], len(token), want)
		}
		if c.Rank() == 0 {
			continue
		}
		token[0]++
		if err := c.Send(ctx, token, next, round); err != nil {
			return err
		}
	}
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	fmt.Printf("rank %d on %s: %d rounds\n", c.Rank(), w.Hostname(), rounds)
	for _, rail := range w.Rails() {
		fmt.Printf("rail to %d: %s, %d bytes sent\n", rail.Peer, rail.Desc, rail.Traffic.BytesSent)
	}
	return nil
}

// Wait says that it is there, waits for a message that nobody sends, and says
// how that has ended before it ends the job.
func Wait(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	fmt.Println("waiting")
	_, err := c.Recv(ctx, nil, (c.Rank()+1)%c.Size(), 1)
	fmt.Println("waited:", err)
	return err
}
