package local

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/need"
)

// How a rank goes, in a trial. A shell above it makes a status of a signal.
var goings = []struct {
	name   string
	how    Ending
	status int
	leave  func()
}{
	{"killed", Killed, 137, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }},
	{"exits", Exited, 3, func() { os.Exit(3) }},
	{"leaves", Deserted, 1, func() { os.Exit(0) }},
}

// playTrial talks with all others until one, the variable says which and how, goes after so many messages.
func playTrial() {
	var victim, going, after int
	if _, err := fmt.Sscan(os.Getenv("LOCAL_TEST_TRIAL"), &victim, &going, &after); err != nil {
		os.Exit(99)
	}
	fmt.Println("pid", os.Getpid())
	err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		for n := 0; ; n++ {
			if w.Rank() == victim && n == after {
				goings[going].leave()
			}
			shift := 1 + n%(w.Size()-1)
			to, from := (w.Rank()+shift)%w.Size(), (w.Rank()+w.Size()-shift)%w.Size()
			if _, err := c.Sendrecv(ctx, make([]byte, n%3000), to, n, make([]byte, 3000), from, n); err != nil {
				return err
			}
		}
	})
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Whoever goes, however and whenever: the job ends, the right rank is named with the right status, and
// nobody is left.
func TestTrials(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for trial := range need.Times(6, 3000) {
		going, victim, ranks := trial%len(goings), 0, 2+random.IntN(4)
		victim = random.IntN(ranks)
		c, out := playing(t, "trial", ranks)
		c.Environ = append(c.Environ, "LOCAL_TEST_TRIAL="+strings.Join([]string{strconv.Itoa(victim), strconv.Itoa(going), strconv.Itoa(random.IntN(200))}, " "))
		shell := trial%2 == 1
		if shell {
			c.Args = []string{"-c", `"$0"; s=$?; exit $s`, c.Program}
			c.Program = "sh"
		}
		start := time.Now()
		err := Run(context.Background(), c)
		var failure *RankError
		require.ErrorAs(t, err, &failure, "trial %d: %s", trial, out)
		g := goings[going]
		require.Equal(t, victim, failure.Rank, "trial %d, %s: %v: %s", trial, g.name, failure, out)
		require.Equal(t, g.status, failure.ExitStatus(), "trial %d, %s: %v", trial, g.name, failure)
		if !shell {
			require.Equal(t, g.how, failure.How, "trial %d: %v", trial, failure)
		}
		require.Less(t, time.Since(start), 30*time.Second, "trial %d", trial)
		requireGone(t, out.String(), ranks)
	}
}
