package remote

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/yamux"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/leak"
)

// A launcher is one that will be cut off: it says what it has to say, and then nothing any more, not even that this was the end.
type launcher struct {
	*testing.T
	to      io.WriteCloser
	from    io.Reader
	session *yamux.Session
}

func (l *launcher) say(text string) {
	l.Helper()
	_, err := io.WriteString(l.to, text)
	require.NoError(l, err)
}

// order gives an order for one rank.
func (l *launcher) order(o Order) {
	l.Helper()
	o.Size, o.Ranks = 1, []int{0}
	text, err := json.Marshal(o)
	require.NoError(l, err)
	l.say(string(text) + "\n")
}

// open opens streams, and returns the last of them.
func (l *launcher) open(parts ...byte) (last conn) {
	l.Helper()
	heard, _ := takeIn(l.from)
	var err error
	l.session, err = streams(pipes{heard, closers{heard, l.to}}, true)
	require.NoError(l, err)
	for _, part := range parts {
		last, err = begin(l.session, part, 0)
		require.NoError(l, err)
	}
	return last
}

// needed are the streams that there always are. The last one is of the host as a whole.
var needed = []byte{ofPMI, ofControl, ofStdout, ofStderr, ofHost}

// run has a rank run a script. Until it has started, which may take its time, signs of life are answered.
func (l *launcher) run(script string) (host *bufio.Reader) {
	l.Helper()
	l.order(Order{Program: "sh", Args: []string{"-c", script}})
	host = bufio.NewReader(l.open(needed...))
	started, err := host.ReadString('\n')
	for started == "{}\n" {
		_, err = l.session.Ping()
		require.NoError(l, err)
		started, err = host.ReadString('\n')
	}
	require.NoError(l, err)
	require.Contains(l, started, "started")
	return host
}

// In each phase of a host its launcher may be cut off. All ends there all the same.
func TestLauncherFallsSilent(t *testing.T) {
	leak.Check(t)
	phases := map[string]func(l *launcher){
		"without an order":         func(*launcher) {},
		"after signs of life":      func(l *launcher) { l.say("\n\n\n") },
		"in an order":              func(l *launcher) { l.say(`{"program":"sle`) },
		"without streams":          func(l *launcher) { l.order(Order{Program: "sleep"}) },
		"with some streams":        func(l *launcher) { l.order(Order{Program: "sleep"}); l.open(ofHost, ofPMI) },
		"without the program":      func(l *launcher) { l.order(Order{Pushed: 10}); l.open(append(needed, ofProgram)...) },
		"without a failure's echo": func(l *launcher) { l.order(Order{Program: "/nowhere/program"}); l.open(needed...) },
		"in the program": func(l *launcher) {
			l.order(Order{Pushed: 10})
			_, err := l.open(append(needed, ofProgram)...).Write([]byte("#!/bin"))
			require.NoError(l, err)
		},
		"while a rank runs":         func(l *launcher) { l.run("exec sleep 600") },
		"while a rank reads":        func(l *launcher) { l.run("exec cat <&3") },
		"while a rank writes":       func(l *launcher) { l.run("exec yes") },
		"while a rank's child runs": func(l *launcher) { l.run("sleep 600 & exit 0") },
		"when all ranks have ended": func(l *launcher) {
			host := l.run("exit 0")
			for line := ""; line != `{"exited":{"rank":0,"status":0}}`+"\n"; {
				var err error
				line, err = host.ReadString('\n')
				require.NoError(l, err)
			}
		},
	}
	t.Run("phases", func(t *testing.T) {
		for phase, say := range phases {
			t.Run(phase, func(t *testing.T) {
				t.Parallel()
				in, to := io.Pipe()
				from, out := io.Pipe()
				t.Cleanup(func() { _ = to.Close() }) // which ends what may still read
				folder := filepath.Join(t.TempDir(), "folder")
				require.NoError(t, os.Mkdir(folder, 0o700))
				done := make(chan error, 1)
				go func() {
					done <- Serve(t.Context(), in, out, Introduction{Build: "test"}, Call{Timeout: 50 * time.Millisecond, Carried: folder})
				}()
				var i Introduction
				lines := bufio.NewReader(from)
				text, err := lines.ReadBytes('\n')
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(text, &i))
				l := &launcher{T: t, to: to, from: lines}
				say(l)
				assert.EqualError(t, <-done, "the launcher gives no sign of life for 150ms")
				assert.NoDirExists(t, folder)
				if l.session != nil {
					_ = l.session.Close()
				}
			})
		}
	})
}

// Whatever comes is a sign of life.
func TestSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := io.Pipe()
		in, ended := takeIn(from)
		go func() { _, _ = io.Copy(io.Discard, in) }()
		silence := make(chan error, 1)
		begin := time.Now()
		go func() { silence <- in.await(nil, time.Second, 3) }()
		for n := range 100 {
			<-time.After(2999 * time.Millisecond)
			_, err := fmt.Fprint(to, n)
			require.NoError(t, err)
			synctest.Wait()
			require.Empty(t, silence)
		}
		heard := time.Since(begin)
		require.EqualError(t, <-silence, "no sign of life for 3s")
		assert.LessOrEqual(t, time.Since(begin)-heard, 4*time.Second)
		in.sleep(true)
		over := make(chan struct{})
		go func() { silence <- in.await(over, time.Second, 3) }()
		<-time.After(time.Hour)
		close(over)
		require.NoError(t, <-silence, "who is asleep is not missed")
		require.NoError(t, to.Close())
		<-ended
	})
}

// A host that waits for its order hears that there is still a launcher: other hosts may take their time.
func TestSignsOfLifeBeforeTheOrder(t *testing.T) {
	leak.Check(t)
	folder := t.TempDir()
	shell := filepath.Join(folder, "shell")
	require.NoError(t, os.WriteFile(shell, []byte("#!/bin/sh\necho '{\"strand\":\"test\"}'; read sign; read sign && touch "+folder+"/heard; cat >/dev/null\n"), 0o700))
	l, err := Connect(t.Context(), Host{Name: "a", Shell: []string{shell}, Program: "strand", Patience: time.Minute, Timeout: 50 * time.Millisecond}, "test", nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(folder, "heard"))
		return err == nil
	}, time.Minute, time.Millisecond)
	require.NoError(t, l.Leave())
}
