package job

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/transcript"
	"github.com/strandmp/strand/internal/trace"
)

// playTraced has the ranks talk, call and, if there is an argument, end in some way.
func playTraced() {
	playWorld(func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if len(os.Args) > 1 && os.Args[1] == "idle" {
			panic("nothing is done")
		}
		for _, size := range []int{8, 4 << 10, 2 << 20} {
			buf := make([]byte, size)
			if _, err := c.Sendrecv(ctx, make([]byte, size), 1-w.Rank(), 1, buf, strand.AnySource, 1); err != nil {
				return err
			}
		}
		if err := probeTraced(ctx, c); err != nil {
			return err
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		if _, err := c.Agree(ctx, 1); err != nil {
			return err
		}
		if len(os.Args) < 2 {
			return nil
		}
		if w.Rank() == 0 {
			r, err := c.Irecv(make([]byte, 8), 1, 2) // nobody sends it
			if err != nil {
				return err
			}
			if err := c.Send(ctx, nil, 1, 3); err != nil {
				return err
			}
			_, err = r.Wait(ctx)
			return err
		}
		if _, err := c.Recv(ctx, nil, 0, 3); err != nil {
			return err
		}
		if os.Args[1] == "kill" {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		fmt.Println("all wait")
		_, err := c.Recv(ctx, make([]byte, 8), 0, 2)
		return err
	})
}

// probeTraced has two ranks take a message each by a matched probe.
func probeTraced(ctx context.Context, c *strand.Comm) error {
	r, err := c.Isend(make([]byte, 8), 1-c.Rank(), 4)
	if err != nil {
		return err
	}
	m, err := c.Mprobe(ctx, strand.AnySource, 4)
	if err != nil {
		return err
	}
	if _, err = m.Recv(ctx, make([]byte, 8)); err == nil {
		_, err = r.Wait(ctx)
	}
	return err
}

// page is what a trace says.
type tracePage struct {
	Events []struct {
		Name    string
		Phase   string `json:"ph"`
		Process int    `json:"pid"`
		Args    map[string]any
	} `json:"traceEvents"`
	Other struct {
		Clocks []trace.Clock `json:"clocks"`
		OneEnd int           `json:"messages_with_one_end"`
	} `json:"otherData"`
}

// count counts events by their phase, and spans by their names.
func (p *tracePage) count(rank int, what string) (n int) {
	for _, e := range p.Events {
		if e.Process == trace.Process(rank) && (e.Phase == what || e.Name == what) {
			n++
		}
	}
	return n
}

func TestTrace(t *testing.T) {
	for name, end := range map[string]string{"in order": "", "a rank is killed": "kill", "too late": "wait"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, out := playing(t, "traced", 2)
			c.Trace = filepath.Join(t.TempDir(), "out.json.gz")
			if end != "" {
				c.Args = []string{end}
			}
			err := runUntil(t, c, out, end == "wait", "all wait")
			require.Equal(t, end == "", err == nil, "%v: %s", err, out)
			assert.Contains(t, out.String(), "strand run: "+c.Trace+" has ")
			p := readTrace(t, c.Trace)
			for rank := range 2 {
				assert.Equal(t, 1, p.count(rank, "Barrier")+p.count(rank, "Barrier (failed)")+p.count(rank, "Barrier (not over)"))
				assert.GreaterOrEqual(t, p.count(rank, "s"), 3, "arrows begin")
				assert.Equal(t, p.count(rank, "s"), p.count(1-rank, "f"), "and end")
			}
			if end == "" {
				assert.Zero(t, p.Other.OneEnd, "no message was lost, and what the library tells itself is none")
				assert.Equal(t, 2, p.count(0, "Agree")+p.count(1, "Agree"))
			}
			if end != "" {
				assert.Equal(t, 1, p.count(0, "receive from 1 (not over)")+p.count(0, "receive from 1 (failed)"))
			}
		})
	}
}

// runUntil is Run of a job whose time, if it is late, is over when all ranks wait, as its output says.
func runUntil(t *testing.T, c Config, out *transcript.Output, late bool, said string) error {
	t.Helper()
	c.overdue = make(chan struct{}, 1)
	over := make(chan error, 1)
	go func() { over <- Run(context.Background(), c) }()
	if late {
		out.Await(t, said, 1)
		c.overdue <- struct{}{}
	}
	return <-over
}

// What ranks of other hosts have recorded comes through their remote shells, and the clocks of the hosts
// are brought together.
func TestTraceElsewhere(t *testing.T) {
	c, out, _ := elsewhere(t, "traced")
	c.Trace = filepath.Join(t.TempDir(), "out.json.gz")
	for i, ranks := range [][]int{{0}, {1}} {
		c.Elsewhere[i].Ranks = ranks
	}
	c.Ranks = 2
	require.NoError(t, Run(t.Context(), c), "%s", out)
	p := readTrace(t, c.Trace)
	for rank := range 2 {
		assert.GreaterOrEqual(t, p.count(rank, "s"), 3)
		assert.Equal(t, p.count(rank, "s"), p.count(1-rank, "f"))
	}
	assert.Contains(t, out.String(), "strand run: host b: its clock is right within")
	require.Len(t, p.Other.Clocks, 2)
	if c := p.Other.Clocks[1]; runtime.GOOS == "linux" { // where the two have one clock
		assert.LessOrEqual(t, max(c.Offset, -c.Offset), c.Bound+time.Microsecond.Nanoseconds(), "%+v", c)
	}
}

func readTrace(t *testing.T, name string) (p tracePage) {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	packed, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(packed)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &p))
	return p
}

// Ranks that have sent and received nothing are those of a program that could have.
func TestTraceOfIdleRanks(t *testing.T) {
	c, out := playing(t, "traced", 2)
	c.Trace, c.Args = filepath.Join(t.TempDir(), "out.json.gz"), []string{"idle"}
	require.Error(t, Run(t.Context(), c))
	assert.Contains(t, out.String(), "has 0 events of 2 ranks")
	assert.NotContains(t, out.String(), "nothing was recorded")
	p := readTrace(t, c.Trace)
	assert.Equal(t, 1, p.count(1, "process_name"))
}

func TestTraceThatCanNotBeMade(t *testing.T) {
	c, out := shell("exit 0", 2)
	c.Trace = filepath.Join(t.TempDir(), "no", "out.json")
	var mistake *UsageError
	require.ErrorAs(t, Run(context.Background(), c), &mistake)
	c.Trace, c.TraceBuffer = filepath.Join(t.TempDir(), "out.json"), 7
	assert.ErrorContains(t, Run(context.Background(), c), "--trace-buffer 7: want 64K to 1G")
	c.TraceBuffer = 0
	require.NoError(t, Run(context.Background(), c))
	assert.Contains(t, out.String(), "has no events: nothing was recorded, since no rank has come through its start with Strand")
	assert.NotContains(t, out.String(), "open it", "there is nothing to be seen")
}

// Where the page can not be written, that is told, and a job that has failed says so.
func TestTraceThatCanNotBeWritten(t *testing.T) {
	_, err := os.Stat("/dev/full")
	need.That(t, err == nil, "/dev/full, which Linux has: %v", err)
	for status, script := range map[string]string{"what the ranks have recorded is lost": "exit 0", "exited with status 3": "exit 3"} {
		c, out := shell(script, 2)
		c.Trace = "/dev/full"
		require.ErrorContains(t, Run(context.Background(), c), status)
		if script != "exit 0" {
			assert.Contains(t, out.String(), "strand run: --trace /dev/full: what the ranks have recorded is lost: write /dev/full: no space left")
		}
	}
}

// namedPipe makes a pipe with a name, and a reader of it that reads nothing.
func namedPipe(t *testing.T) (name string, reader *os.File) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "out.json")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	reader, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = reader.Close() })
	return name, reader
}

// The reader of a trace may go away, and the launcher is none itself: it would wait for itself for ever.
func TestTraceThatNobodyReadsAnyMore(t *testing.T) {
	name, reader := namedPipe(t)
	j := &job{config: Config{Trace: name}}
	f, err := j.config.openTrace()
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	_, err = j.writeTrace(f)
	require.ErrorIs(t, err, syscall.EPIPE)

	var mistake *UsageError
	_, err = j.config.openTrace()
	require.ErrorAs(t, err, &mistake, "nobody is there to read it")
	assert.ErrorContains(t, err, "no process reads this pipe")
}

// A signal ends what waits for the reader of a trace.
func TestSignalWhileTheTraceIsWritten(t *testing.T) {
	name, _ := namedPipe(t)
	signals := make(chan os.Signal)
	j := &job{config: Config{Trace: name, Signals: signals}}
	f, err := j.config.openTrace()
	require.NoError(t, err)
	raw, err := f.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Write(func(fd uintptr) bool {
		for _, chunk := range []int{4096, 1} { // until it is full
			for err := error(nil); err == nil; {
				_, err = syscall.Write(int(fd), make([]byte, chunk))
			}
		}
		return true
	}))
	over := make(chan error, 1)
	go func() {
		_, err := j.writeTrace(f)
		over <- err
	}()
	signals <- syscall.SIGCONT // is nothing
	signals <- syscall.SIGTERM
	assert.ErrorContains(t, <-over, "what the ranks have recorded is lost: signal 15 (SIGTERM) has come while it was written")
}

// Where nobody reads standard error, a signal ends the wait for who is to be told of the trace; so does some time, if the job was to end.
func TestNobodyHearsOfTheTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, errs := io.Pipe()
		signals := make(chan os.Signal)
		j := &job{config: Config{Stderr: errs, Signals: signals}}
		over := make(chan error, 1)
		go func() { over <- j.tellLast("a line\n", false) }()
		signals <- syscall.SIGCONT // is nothing
		synctest.Wait()
		assert.Empty(t, over, "its reader may take any time")
		signals <- syscall.SIGTERM
		err := <-over
		assert.EqualError(t, err, "signal 15 (SIGTERM), when all ranks had ended (nobody reads its output, the rest of which is lost)")
		assert.True(t, Hurried(err))
		require.NoError(t, reader.Close())

		reader, j.config.Stderr = io.Pipe()
		begun := time.Now()
		require.NoError(t, j.tellLast("another\n", true))
		assert.Equal(t, LastWords, time.Since(begun))
		require.NoError(t, reader.Close())
	})
}
