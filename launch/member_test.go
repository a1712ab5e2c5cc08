package launch

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/launcher/pmi"
)

// A launcher may hang: calls return when their context ends.
func TestPutEndsWithItsContext(t *testing.T) {
	ours, launchers := net.Pipe()
	asked := make(chan error, 1)
	go func() { asked <- answerUntilPut(launchers) }()
	m := &member{client: pmi.NewClient(ours), size: 1}
	require.NoError(t, m.client.Init(context.Background()))

	ctx, cancel := context.WithCancelCause(context.Background())
	given := errors.New("given up")
	put := make(chan error, 1)
	go func() { put <- m.Put(ctx, "key", "value") }()
	require.NoError(t, <-asked)
	cancel(given)
	select {
	case err := <-put:
		assert.ErrorIs(t, err, given)
	case <-time.After(time.Minute):
		assert.Fail(t, "Put does not return")
	}
	require.NoError(t, m.client.Drop())
	require.NoError(t, launchers.Close())
}

// A launcher that somebody has stopped does not answer. The error says what may be wrong with it.
func TestCloseUnderAStoppedLauncher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, launchers := net.Pipe()
		go func() { _, _ = bufio.NewReader(launchers).ReadString('\n') }()
		m := &member{client: pmi.NewClient(ours), rank: 1, size: 2, hostname: "testhost", launcher: strandRun}
		begun := time.Now()
		assert.EqualError(t, m.Close(), "rank 1 of 2 on testhost, started by strand run: pmi: finalize: no answer within 10s: "+
			"is the launcher stopped, or another goroutine in Barrier?")
		assert.Equal(t, closeTimeout, time.Since(begun))
	})
}

// Of the lines that Slurm takes the longest has some thousand bytes.
func TestAbortStaysShort(t *testing.T) {
	for _, launcher := range []string{"slurm", strandRun} {
		ours, launchers := net.Pipe()
		line := make(chan string, 1)
		go func() {
			text, _ := bufio.NewReader(launchers).ReadString('\n')
			line <- text
		}()
		m := &member{client: pmi.NewClient(ours), size: 1, launcher: launcher}
		long := strings.Repeat("m", 2000)
		said := stderrOf(t, func() { m.Abort(7, long) })
		assert.Equal(t, launcher == "slurm", strings.Contains(said, long))
		assert.Equal(t, launcher == "slurm", <-line == "cmd=abort exitcode=7\n")
		require.NoError(t, m.client.Drop())
		require.NoError(t, launchers.Close())
	}
}

// answerUntilPut opens a conversation as a launcher does, and returns when it has
// read a put, which it does not answer.
func answerUntilPut(conn net.Conn) error {
	lines := bufio.NewReader(conn)
	for _, answer := range []string{
		"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
		"cmd=maxes kvsname_max=64 keylen_max=64 vallen_max=1024\n",
		"cmd=my_kvsname kvsname=job\n",
	} {
		if _, err := lines.ReadString('\n'); err != nil {
			return err
		}
		if _, err := conn.Write([]byte(answer)); err != nil {
			return err
		}
	}
	_, err := lines.ReadString('\n')
	return err
}

// Only "strand run" ends a rank that has aborted, and tells why.
func TestAwaitEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		for _, c := range []struct {
			ctx      context.Context
			launcher string
			want     time.Duration
		}{
			{ctx, "hydra", 0},
			{ctx, strandRun, time.Second},
			{context.Background(), strandRun, endTime},
		} {
			start := time.Now()
			(&member{launcher: c.launcher}).AwaitEnd(c.ctx)
			assert.Equal(t, c.want, time.Since(start), c.launcher)
		}
	})
}
