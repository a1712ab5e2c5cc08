package pmi

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCancelledBarrier(t *testing.T) {
	j := newJob(t, 2).init(t)
	reason := errors.New("waited long enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	blocked := make(chan error, 1)
	go func() { blocked <- j.clients[0].Barrier(ctx) }()
	j.waitInBarrier(t, 1)
	cancel(reason)
	assert.ErrorIs(t, <-blocked, reason)

	// This rank counts as arrived, and the late answer is passed over.
	require.NoError(t, j.clients[1].Barrier(context.Background()))
	_, err := j.clients[0].Get(context.Background(), "absent")
	assert.ErrorIs(t, err, ErrNoKey)
	require.NoError(t, j.clients[0].Close(context.Background()))
}

func TestCancelWhileAnotherWaits(t *testing.T) {
	j := newJob(t, 2).init(t)
	blocked := make(chan error, 1)
	go func() { blocked <- j.clients[0].Barrier(context.Background()) }()
	j.waitInBarrier(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := j.clients[0].Get(ctx, "k")
	assert.ErrorIs(t, err, context.Canceled)
	require.NoError(t, j.clients[1].Barrier(context.Background()))
	require.NoError(t, <-blocked)
}

// TestCancelAnyTime ends contexts at every moment of a conversation; no answer
// may end up with another request.
func TestCancelAnyTime(t *testing.T) {
	j := newJob(t, 1).init(t)
	c := j.clients[0]
	for _, key := range []string{"a", "b"} {
		require.NoError(t, c.Put(context.Background(), key, "value-of-"+key))
	}
	cut := 0
	for i := range 2000 {
		key := []string{"a", "b"}[i%2]
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%50)*time.Microsecond)
		got, err := c.Get(ctx, key)
		cancel()
		if err != nil {
			require.ErrorIs(t, err, context.DeadlineExceeded)
			cut++
			continue
		}
		require.Equal(t, "value-of-"+key, got)
	}
	assert.Positive(t, cut)
}

// talk plays a launcher: it reads a line for each answer, then closes.
func talk(t *testing.T, answers ...string) *Client {
	t.Helper()
	near, far := pair(t)
	go func() {
		requests := bufio.NewReader(near)
		for _, a := range answers {
			if _, err := requests.ReadString('\n'); err != nil {
				break
			}
			if _, err := near.Write([]byte(a)); err != nil {
				break
			}
		}
		_ = near.Close()
	}()
	return NewClient(far)
}

const greeting = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"

func TestGarbageFromTheLauncher(t *testing.T) {
	const maxes = "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
	for _, tc := range []struct {
		name, want string
		answers    []string
	}{
		{"nothing", "has closed the connection", nil},
		{"half a line", "has closed the connection", []string{"cmd=respo"}},
		{"noise", "no PMI-1 line", []string{"SSH-2.0-OpenSSH_9.2\n"}},
		{"binary", "control character", []string{"\x00\x01\xff\n"}},
		{"endless line", "longer than", []string{strings.Repeat("x", 2*MaxLine)}},
		{"another answer", "where cmd=response_to_init was due", []string{"cmd=barrier_out value=hunter2\n"}},
		{"answer to another program", "does another program of this rank talk to it too", []string{"cmd=maxes\n"}},
		{"refusal", "refused protocol version 1.1", []string{"cmd=response_to_init pmi_version=2 rc=-1\n"}},
		{"no limits", "has no keylen_max", []string{greeting, "cmd=maxes\n"}},
		{"wild limits", "keylen_max", []string{greeting, "cmd=maxes keylen_max=99999999999999999999 vallen_max=1\n"}},
		{"long name", "leaves no room", []string{greeting, maxes, "cmd=my_kvsname kvsname=" + strings.Repeat("k", 900) + "\n"}},
		{"no name", "no name", []string{greeting, maxes, "cmd=my_kvsname kvsname=\n"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := talk(t, tc.answers...)
			err := c.Init(context.Background())
			require.NoError(t, c.Drop())
			assert.ErrorContains(t, err, tc.want)
			assert.Less(t, len(err.Error()), 400)
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

// TestRequestsStayShort: whatever the launcher allows, a request fits Slurm's
// buffer.
func TestRequestsStayShort(t *testing.T) {
	for _, name := range []string{"k", strings.Repeat("k", 255)} {
		const maxes = "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=100000\n"
		c := talk(t, greeting, maxes, "cmd=my_kvsname kvsname="+name+"\n", "cmd=put_result rc=0\n")
		sent := &counting{Conn: c.conn}
		c.conn = sent
		require.NoError(t, c.Init(context.Background()))
		limits := c.Limits()
		require.NoError(t, c.Put(context.Background(), strings.Repeat("x", limits.Key-1), strings.Repeat("v", limits.Value-1)))
		assert.LessOrEqual(t, sent.longest, requestMax)
		assert.Greater(t, sent.longest, requestMax-10)
		require.NoError(t, c.Drop())
	}
}

// A launcher may take keys and values of any length.
func TestGenerousLauncher(t *testing.T) {
	c := talk(t, greeting, "cmd=maxes kvsname_max=256 keylen_max=4194304 vallen_max=1073741824\n", "cmd=my_kvsname kvsname=job\n")
	require.NoError(t, c.Init(context.Background()))
	assert.GreaterOrEqual(t, c.Limits().Key, 64)
	assert.Greater(t, c.Limits().Value, 500)
	require.NoError(t, c.Drop())
}

// counting notes the longest write.
type counting struct {
	net.Conn
	longest int
}

func (c *counting) Write(p []byte) (int, error) {
	c.longest = max(c.longest, len(p))
	return c.Conn.Write(p)
}

func TestAttach(t *testing.T) {
	c := talk(t, "cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0\n", greeting)
	rank, size, err := c.Attach(context.Background(), "17")
	require.NoError(t, err)
	assert.Equal(t, [2]int{3, 4}, [2]int{rank, size})

	for _, answer := range []string{
		"cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=4\ncmd=set debug=0\n",
		"cmd=initack rc=0\ncmd=set size=0\ncmd=set rank=0\n",
		"cmd=initack rc=0\ncmd=set rank=0\n",
		"cmd=barrier_out\n",
	} {
		c := talk(t, answer)
		_, _, err := c.Attach(context.Background(), "17")
		assert.Error(t, err, answer)
		require.NoError(t, c.Drop())
	}
	_, _, err = talk(t).Attach(context.Background(), "1 2")
	assert.ErrorContains(t, err, "pmiid")
}

func TestClosedClient(t *testing.T) {
	j := newJob(t, 1).init(t)
	c := j.clients[0]
	require.NoError(t, c.Close(context.Background()))
	require.NoError(t, c.Close(context.Background()), "closing twice is no error")
	assert.ErrorIs(t, c.Barrier(context.Background()), ErrClosed)
}

// The launcher shows all that a rank has to say, unless that is too much for a line. Then the cut is seen.
func TestLongAbortMessage(t *testing.T) {
	long := strings.Repeat("é", 2500) + ": do this"
	for text, want := range map[string]string{long: long, strings.Repeat("é", 1<<20): "éé…"} {
		j := newJob(t, 1).init(t)
		require.NoError(t, j.clients[0].Abort(7, text))
		_, _ = j.clients[0].Get(context.Background(), "k") // the launcher has read what came before
		events := j.all()
		assert.True(t, strings.HasSuffix(events[len(events)-1], want), "%.60q", want)
		assert.True(t, utf8.ValidString(events[len(events)-1]))
	}
}

// A stale variable may name a stream that nobody reads, and that is full.
func TestRequestThatNobodyReads(t *testing.T) {
	ours, theirs := net.Pipe()
	c := NewClient(ours)
	given := errors.New("given up")
	ctx, cancel := context.WithCancelCause(context.Background())
	asked := make(chan error, 1)
	go func() { asked <- c.Init(ctx) }()
	first := make([]byte, 1)
	_, err := theirs.Read(first)
	require.NoError(t, err)
	cancel(given)
	select {
	case err := <-asked:
		assert.ErrorIs(t, err, given)
	case <-time.After(watchdog):
		t.Fatal("Init does not return")
	}
	assert.ErrorIs(t, c.Init(context.Background()), errCut, "half a request stands in the stream")
	require.NoError(t, c.Drop())
	require.NoError(t, theirs.Close())
}
