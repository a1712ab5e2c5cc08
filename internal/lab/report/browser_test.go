//go:build unix

package report_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// A browser is a Chromium without a window, spoken to by its DevTools protocol over two pipes:
// each message is JSON and ends with a zero byte.
type browser struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	last    int
	session string
	events  []event // that came while something else was waited for
}

// A message is an answer or an event.
type message struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
	event
}

type event struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// startBrowser starts one for the time of a test, with one empty page.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	program := need.Program(t, "chromium", "chromium")
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute) // only if it hangs
	args := []string{"--headless", "--remote-debugging-pipe", "--user-data-dir=" + t.TempDir(), "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // which the superuser can not have
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = 10 * time.Second
	toIt, in, err := os.Pipe()
	require.NoError(t, err)
	out, fromIt, err := os.Pipe()
	require.NoError(t, err)
	cmd.ExtraFiles = []*os.File{toIt, fromIt} // its descriptors 3 and 4
	require.NoError(t, cmd.Start())
	require.NoError(t, toIt.Close())
	require.NoError(t, fromIt.Close())
	b := &browser{t: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		defer cancel()
		if t.Failed() { // then it may not listen
			cancel()
		} else {
			b.ask("Browser.close", nil) // which may end it before it answers
		}
		_ = cmd.Wait() // its exit status says nothing of the page
		assert.NoError(t, in.Close())
		assert.NoError(t, out.Close())
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call asks for something and waits for the answer.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.ask(method, params)
	for {
		m := b.read()
		switch {
		case m.Method != "":
			b.events = append(b.events, m.event)
		case m.ID == b.last:
			require.Nil(b.t, m.Error, "%s: %v", method, m.Error)
			if result != nil {
				require.NoError(b.t, json.Unmarshal(m.Result, result))
			}
			return
		}
	}
}

// ask asks for something.
func (b *browser) ask(method string, params any) {
	b.t.Helper()
	b.last++
	request := map[string]any{"id": b.last, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" && method != "Browser.close" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	require.NoError(b.t, err)
	_, err = b.in.Write(append(text, 0))
	require.NoError(b.t, err)
}

func (b *browser) read() message {
	b.t.Helper()
	text, err := b.out.ReadBytes(0)
	require.NoError(b.t, err, "chromium has ended, or hung")
	var m message
	require.NoError(b.t, json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m))
	return m
}

// open shows a file on a screen so wide and waits until it is there. It returns what the
// console said, and which addresses were asked for beside the file's own.
func (b *browser) open(path string, width, height int) (console, requests []string) {
	b.t.Helper()
	b.resize(width, height)
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	for loaded := false; !loaded; {
		for _, e := range b.events {
			loaded = loaded || e.Method == "Page.loadEventFired"
			switch e.Method {
			case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
				console = append(console, e.Method+" "+string(e.Params))
			case "Network.requestWillBeSent":
				var sent struct{ Request struct{ URL string } }
				require.NoError(b.t, json.Unmarshal(e.Params, &sent))
				if sent.Request.URL != "file://"+path {
					requests = append(requests, sent.Request.URL)
				}
			}
		}
		if b.events = nil; !loaded {
			if m := b.read(); m.Method != "" {
				b.events = append(b.events, m.event)
			}
		}
	}
	return console, requests
}

// A screen is what somebody looks at a page on.
type screen struct {
	name          string
	width, height int
	dark          bool // as who looks likes it
}

// look shows the page that is open on another screen.
func (b *browser) look(s screen) {
	b.t.Helper()
	scheme := map[bool]string{false: "light", true: "dark"}[s.dark]
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.resize(s.width, s.height)
}

func (b *browser) resize(width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
}

// evaluate returns what an expression is on the page.
func (b *browser) evaluate(expression string, value any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
	require.Empty(b.t, string(answer.ExceptionDetails))
	require.NoError(b.t, json.Unmarshal(answer.Result.Value, value), "%s is %s", expression, answer.Result.Value)
}

// screenshot saves the whole page as it looks, for people.
func (b *browser) screenshot(path string, width int) {
	b.t.Helper()
	const piece = 1600 // of the page's height, for each picture
	var height int
	b.evaluate("document.documentElement.scrollHeight", &height)
	for i := 0; i*piece < height; i++ {
		var picture struct{ Data []byte }
		b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true, "clip": map[string]any{
			"x": 0, "y": i * piece, "width": width, "height": min(piece, height-i*piece), "scale": 1,
		}}, &picture)
		require.NoError(b.t, os.WriteFile(fmt.Sprintf("%s-%02d.png", path, i), picture.Data, 0o644))
	}
}
