//go:build linux

package nettest_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
	"github.com/strandmp/strand/strandcmd"
)

// roleFlag makes this test binary a rank instead of a test.
const roleFlag = "-nettest.role="

// commandName, as the name by which it was called, makes it the command strand.
const commandName = "strand"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == commandName {
		strandcmd.Main()
	}
	if name, ok := strings.CutPrefix(os.Args[len(os.Args)-1], roleFlag); ok && len(os.Args) == 2 {
		err := forbid()
		if err == nil {
			err = strand.Run(context.Background(), roles[name])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// Most tests that may run beside others wait, for what networks take their time with: more
	// of them do so at a time than there are processors, unless -parallel says otherwise.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	testnet.Main(m)
}

var roles = map[string]func(context.Context, *strand.World) error{
	"ring":    ring,
	"wait":    wait,
	"traffic": traffic,
	"stream":  stream,
	"contact": contact,
	"depend":  depend,
	"weigh":   weigh,
	"late":    late,
	"steady":  steady,
	"leave":   leave,
	"part":    part,
	"flow":    flow,
}

// play makes a job of ranks that play a role of this test binary, over the
// transports that every program has.
func play(role string, placement []*testnet.Host, env ...string) nettest.Job {
	return nettest.Job{
		Placement: placement, Program: fmt.Sprintf("/proc/%d/exe", os.Getpid()), Args: []string{roleFlag + role},
		Env: env,
	}
}

// untold has a job run as under a launcher that speaks nothing but PMI-1.
func untold(job nettest.Job) nettest.Job {
	job.Args = append([]string{"-u", "STRAND_LAUNCH_CONTROL_FD", job.Program}, job.Args...)
	job.Program = "env"
	return job
}

// rounds of the ring.
const rounds = 20

// sizes of the messages in turn, beside the count, in bytes.
var sizes = []int{0, 1000, 100 << 10, 1 << 20}

// ring passes a count around, with more and less load. Every rank adds one. At
// the end each tells what it has seen, and by which ways it came.
func ring(ctx context.Context, w *strand.World) error {
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

// wait says that it is there, waits for a message that nobody sends, and says
// how that has ended before it ends the job.
func wait(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	fmt.Println("waiting")
	_, err := c.Recv(ctx, nil, (c.Rank()+1)%c.Size(), 1)
	fmt.Println("waited:", err)
	return err
}
