package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair returns both ends of a stream socket.
func pair(t testing.TB) (near, far net.Conn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	var ends [2]net.Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "pair")
		ends[i], err = net.FileConn(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		t.Cleanup(func() { _ = ends[i].Close() })
	}
	return ends[0], ends[1]
}

// serve runs a line and returns where its warnings and its end show up.
func serve(t testing.TB, conn net.Conn) (l *Line, warnings chan string, ended chan error) {
	t.Helper()
	l, warnings, ended = NewLine(conn), make(chan string, 100), make(chan error, 1)
	var serving sync.WaitGroup
	serving.Go(func() { ended <- l.Serve(Heard{Warning: func(text string) { warnings <- text }}) })
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return l, warnings, ended
}

// warn warns until the warning is taken. Each attempt waits for warnTimeout only, and a busy
// machine may need longer to read what came before.
func warn(t testing.TB, m *Member, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return m.Warn(text) == nil }, 30*time.Second, time.Millisecond)
}

func watched(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestConversation(t *testing.T) {
	near, far := pair(t)
	l, warnings, ended := serve(t, near)
	killed := Failure{Rank: 3, Host: "node1", How: "was killed by signal 9 (SIGKILL)", Signal: 9}
	left := Failure{Rank: 1, Host: "node2", How: "exited with status 7", Status: 7}
	l.Tell(killed) // before anybody listens
	m := NewMember(far)
	told, served := make(chan Failure, 2), make(chan error, 1)
	go func() {
		served <- m.Serve(Callbacks{
			Failed: func(f Failure) { told <- f },
			Report: func() any { return map[string]int{"rails": 4} },
		})
	}()
	l.Tell(left)
	assert.Equal(t, killed, <-told)
	assert.Equal(t, left, <-told)
	for range 3 {
		report, err := l.Ask(watched(t))
		require.NoError(t, err)
		assert.JSONEq(t, `{"rails":4}`, string(report))
	}
	warn(t, m, "an odd thing")
	assert.Equal(t, "an odd thing", <-warnings)
	m.Close()
	assert.ErrorIs(t, <-served, ErrEnded)
	assert.NoError(t, <-ended)
	l.Tell(left)
	_, err := l.Ask(watched(t))
	assert.ErrorIs(t, err, ErrEnded)
	assert.Error(t, m.Warn("nobody hears it"))
}

// A rank that reads nothing, because it is stopped or knows nothing of this
// channel, holds up nobody.
func TestRankThatDoesNotListen(t *testing.T) {
	near, far := pair(t)
	l, _, ended := serve(t, near)
	for range 20_000 {
		l.Tell(Failure{Rank: 1, How: strings.Repeat("x", 100)})
	}
	ctx, cancel := context.WithCancel(watched(t))
	answers := make(chan error, 2)
	go func() { _, err := l.Ask(ctx); answers <- err }()
	go func() { _, err := l.Ask(watched(t)); answers <- err }()
	require.Eventually(t, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.askers) == 2 }, 30*time.Second, time.Millisecond)
	cancel()
	assert.ErrorIs(t, <-answers, context.Canceled)
	require.NoError(t, far.Close()) // it is killed
	assert.ErrorIs(t, <-answers, ErrEnded)
	assert.NoError(t, <-ended)
}

// Questions that are asked at the same time share one answer.
func TestOneQuestionAtATime(t *testing.T) {
	near, far := pair(t)
	l, _, _ := serve(t, near)
	answers := make(chan string, 3)
	for range 3 {
		go func() { r, _ := l.Ask(watched(t)); answers <- string(r) }()
	}
	require.Eventually(t, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.askers) == 3 }, 30*time.Second, time.Millisecond)
	line, err := bufio.NewReader(far).ReadString('\n')
	require.NoError(t, err)
	assert.JSONEq(t, `{"report":true}`, line)
	_, err = io.WriteString(far, `{"report":7,"of_a_later_version":true}`+"\n")
	require.NoError(t, err)
	for range 3 {
		assert.Equal(t, "7", <-answers)
	}
}

func TestGarbageEndsTheChannel(t *testing.T) {
	for _, text := range []string{"GET / HTTP/1.1\n", "[]\n", `{"warning":7,"failed":7}` + "\n", strings.Repeat("x", maxWord+1)} {
		near, far := pair(t)
		_, _, ended := serve(t, near)
		go func() { _, _ = io.WriteString(far, text) }()
		err := <-ended
		assert.ErrorIs(t, err, ErrEnded)
		assert.NotEqual(t, ErrEnded.Error(), err.Error(), "it says why")

		near, far = pair(t)
		go func() { _, _ = io.WriteString(near, text) }()
		err = NewMember(far).Serve(Callbacks{Failed: func(Failure) {}, Report: func() any { return nil }})
		assert.ErrorIs(t, err, ErrEnded)
		require.NoError(t, far.Close())
	}
}

// A report that has no form in JSON, or is too long, is answered by the reason.
func TestReportsThatCanNotBeSent(t *testing.T) {
	for want, report := range map[string]any{
		"its report can not be written: json: unsupported type: chan int": make(chan int),
		"its report has 8388610 bytes, more than 8388544":                 strings.Repeat("x", maxWord),
	} {
		near, far := pair(t)
		l, _, _ := serve(t, near)
		m := NewMember(far)
		served := make(chan error, 1)
		go func() { served <- m.Serve(Callbacks{Report: func() any { return report }}) }()
		_, err := l.Ask(watched(t))
		assert.EqualError(t, err, want)
		m.Close()
		<-served
	}
}

// What a rank has said before it ended is heard, also if a process that it started holds its end
// of the channel.
func TestLastWords(t *testing.T) {
	near, far := pair(t)
	m := NewMember(far)
	for range 20 {
		warn(t, m, "odd")
	}
	l := NewLine(near)
	l.EndWithin(30 * time.Millisecond)
	heard := 0
	assert.NoError(t, l.Serve(Heard{Warning: func(string) { heard++ }}))
	assert.Equal(t, 20, heard)
}

// A warning that is too long says that there is more.
func TestLongWarning(t *testing.T) {
	near, far := pair(t)
	text := strings.Repeat("über ", maxWarning)
	go func() {
		m := NewMember(far)
		_ = m.Warn(text) // the pair has room
		m.Close()
	}()
	var heard string
	assert.NoError(t, NewLine(near).Serve(Heard{Warning: func(text string) { heard = text }}))
	assert.LessOrEqual(t, len(heard), maxWarning)
	assert.Greater(t, len(heard), maxWarning-100)
	kept, more, cut := strings.Cut(heard, "…")
	assert.True(t, cut)
	assert.Equal(t, fmt.Sprintf(" (%d bytes more are left out)", len(text)-len(kept)), more)
	assert.True(t, strings.HasPrefix(text, kept))
}

// A launcher that does not read holds up no rank that warns. A warning for which there was no
// room does not spoil the others.
func TestLauncherThatDoesNotListen(t *testing.T) {
	near, far := pair(t)
	m := NewMember(far)
	text := strings.Repeat("x", maxWarning)
	taken := 0
	for ; ; taken++ {
		if err := m.Warn(text); err != nil {
			assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
			break
		}
	}
	serving := make(chan error)
	go func() {
		serving <- m.Serve(Callbacks{Report: func() any { return strings.Repeat("x", 1<<20) }})
	}()
	_, err := near.Write(encode(order{Report: true}))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		err := m.Warn(text)
		if err == nil {
			taken++ // on a slow machine the first refusal came before all room was taken
		}
		return errors.Is(err, errBusy)
	}, 30*time.Second, time.Millisecond, "while the report waits to be read")
	assert.ErrorIs(t, m.Call(1), errBusy, "nor does it wait for ever")

	l, warnings, ended := serve(t, near)
	for range taken {
		assert.Equal(t, text, <-warnings)
	}
	warn(t, m, "again")
	assert.Equal(t, "again", <-warnings)
	l.Close()
	assert.NoError(t, <-ended)
	<-serving
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"failed":{"rank":3,"host":"node1","how":"exited with status 7","status":7}}` + "\n"))
	f.Add([]byte(`{"report":true}` + "\n" + `{"warning":"odd"}` + "\n"))
	f.Add([]byte("\n\n{}\n{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		orders, words := 0, 0
		assert.ErrorIs(t, each(strings.NewReader(string(text)), maxOrder, func(*order) { orders++ }), ErrEnded)
		assert.ErrorIs(t, each(strings.NewReader(string(text)), maxOrder, func(w *word) {
			words++
			assert.True(t, w.Report == nil || json.Valid(w.Report))
		}), ErrEnded)
		assert.LessOrEqual(t, max(orders, words), strings.Count(string(text), "\n")+1)
	})
}

// A rank has another one asked to connect to it. While a rank does not read, several calls by
// the same one count once.
func TestCalls(t *testing.T) {
	near, far := pair(t)
	l, calls, ended := NewLine(near), make(chan int, 1), make(chan error, 1)
	go func() { ended <- l.Serve(Heard{Call: func(rank int) { calls <- rank }}) }()
	m, called, served := NewMember(far), make(chan int, 10), make(chan error, 1)
	require.NoError(t, m.Call(0))
	assert.Equal(t, 0, <-calls)
	l.mu.Lock()
	l.busy = true // nothing is read
	l.mu.Unlock()
	for range 1000 {
		l.Call(3)
		l.Call(0)
	}
	l.mu.Lock()
	assert.Len(t, l.out, 2)
	l.writing.Go(l.write)
	l.mu.Unlock()
	go func() { served <- m.Serve(Callbacks{Called: func(by int) { called <- by }}) }()
	assert.Equal(t, 3, <-called)
	assert.Equal(t, 0, <-called)
	m.Close()
	assert.ErrorIs(t, <-served, ErrEnded)
	assert.NoError(t, <-ended)
	assert.Error(t, m.Call(1))
	l.Call(1)
}

// A call may be answered: who was called has left. A rank that does not ask for that passes over it.
func TestCallOfWhoHasLeft(t *testing.T) {
	for _, asks := range []bool{true, false} {
		near, far := pair(t)
		l, _, ended := serve(t, near)
		m, left, failed, served := NewMember(far), make(chan Departure, 1), make(chan Failure, 1), make(chan error, 1)
		callbacks := Callbacks{Failed: func(f Failure) { failed <- f }}
		if asks {
			callbacks.Left = func(d Departure) { left <- d }
		}
		go func() { served <- m.Serve(callbacks) }()
		l.TellLeft(Departure{Rank: 3, Host: "node1"})
		l.Tell(Failure{Rank: 2})
		assert.Equal(t, 2, (<-failed).Rank)
		if asks {
			assert.Equal(t, Departure{Rank: 3, Host: "node1"}, <-left)
		}
		m.Close()
		assert.ErrorIs(t, <-served, ErrEnded)
		assert.NoError(t, <-ended)
	}
}
