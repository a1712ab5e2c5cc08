package pmi

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// replyTimeout bounds how long a client may leave its answers unread. One
// request in flight fits the socket's buffer a thousand times over.
const replyTimeout = 5 * time.Second

// messageArg carries the text of an abort, encoded, from Strand's client to
// Strand's launcher.
const messageArg = "strand_message"

// afterArg names the rank whose failure has led to an abort.
const afterArg = "strand_after"

// rankArg and sizeArg tell a process its place, whatever a script has made of the variables that say so.
const (
	rankArg = "strand_rank"
	sizeArg = "strand_size"
)

// A session is one rank's conversation with a Server.
type session struct {
	server *Server
	rank   int
	conn   net.Conn
	lines  lineReader
	joined bool // it has said init

	// writing guards the connection's writes: by the goroutine that serves the rank, and by
	// whoever completes a barrier that the rank waits in.
	writing sync.Mutex
}

func (c *session) serve() error {
	for {
		line, err := c.lines.line()
		if err != nil {
			return err
		}
		if strings.HasPrefix(line, manyLines) {
			if err := c.refuseMany(line); err != nil {
				return err
			}
			continue
		}
		if answer, known := notOffered[commandOf(line)]; known {
			if err := c.refuse(answer); err != nil {
				return err
			}
			continue
		}
		m, err := Parse(line)
		if err != nil {
			return err
		}
		done, err := c.answer(m)
		if done || err != nil {
			return err
		}
	}
}

// answer serves one request; done tells that it was the last.
func (c *session) answer(m Message) (done bool, err error) {
	s := c.server
	switch m.Command {
	case "init":
		return false, c.init(m)
	case "get_maxes":
		return false, c.reply("maxes", "kvsname_max", strconv.Itoa(nameMax), "keylen_max", strconv.Itoa(keyMax), "vallen_max", strconv.Itoa(valueMax))
	case "get_appnum":
		return false, c.reply("appnum", "appnum", "0")
	case "get_universe_size":
		return false, c.reply("universe_size", "size", strconv.Itoa(s.size))
	case "get_my_kvsname":
		return false, c.reply("my_kvsname", "kvsname", s.job)
	case "put":
		return false, c.put(m)
	case "get":
		return false, c.get(m)
	case "barrier_in":
		out, failure, err := s.barrier(c)
		if err != nil {
			return true, err
		}
		return false, c.release(out, failure)
	case "finalize":
		failBarrier(s.finalise(c.rank), s.reasonLeft())
		s.events.Finalised(c.rank)
		return true, c.reply("finalize_ack")
	case "abort":
		c.abort(m)
		return false, nil // the rank's own end ends the conversation
	}
	return true, fmt.Errorf("pmi: cmd=%s is no command that this launcher knows", quote(m.Command))
}

// errSecondProgram: two programs have inherited the connection. Each may have read what was for the other.
var errSecondProgram = errors.New("pmi: a second program of this rank says cmd=init, beside the first or after it, as in a script: " +
	"a rank is one program, and joins its job once; for several programs start the launcher several times")

func (c *session) init(m Message) error {
	rc := "0"
	switch version, _ := m.Value("pmi_version"); {
	case version != "1":
		rc = "-1" // the answer says which version would do
	case c.joined:
		return errSecondProgram
	default:
		c.joined = true
		c.server.events.Initialised(c.rank)
	}
	return c.reply("response_to_init", "pmi_version", "1", "pmi_subversion", "1", "rc", rc,
		rankArg, strconv.Itoa(c.rank), sizeArg, strconv.Itoa(c.server.size))
}

// ownSpace says whether a request names this job's key-value space, the only
// one there is.
func (c *session) ownSpace(m Message) bool {
	name, _ := m.Value("kvsname")
	return name == c.server.job
}

func (c *session) put(m Message) error {
	key, hasKey := m.Value("key")
	value, hasValue := m.Value("value")
	refusal := "key_or_value_missing"
	switch {
	case !c.ownSpace(m):
		refusal = "unknown_kvsname"
	case hasKey && hasValue:
		refusal = c.server.put(key, value)
	}
	if refusal != "" {
		return c.reply("put_result", "rc", "-1", "msg", refusal)
	}
	return c.reply("put_result", "rc", "0", "msg", "success")
}

func (c *session) get(m Message) error {
	key, _ := m.Value("key")
	value, found := c.server.get(key)
	if !found || !c.ownSpace(m) {
		return c.reply("get_result", "rc", "-1", "msg", "key_not_found")
	}
	return c.reply("get_result", "rc", "0", "msg", "success", "value", value)
}

// release lets ranks out of a barrier. It returns the error of the caller's own answer. Another
// rank's own Serve meets the error of that one.
func (c *session) release(out []*session, failure string) (own error) {
	for _, w := range out {
		if err := w.leaveBarrier(failure); w == c {
			own = err
		}
	}
	return own
}

func failBarrier(out []*session, failure string) {
	for _, w := range out {
		_ = w.leaveBarrier(failure) // its own Serve finds out that a rank is gone
	}
}

func (c *session) leaveBarrier(failure string) error {
	if failure != "" {
		return c.reply("barrier_out", "rc", "-1", "msg", failure)
	}
	return c.reply("barrier_out")
}

func (c *session) abort(m Message) {
	code, err := m.Int("exitcode", -1<<31, 1<<31-1)
	if err != nil {
		code = 1 // the wish is clear, the number is not
	}
	encoded, _ := m.Value(messageArg)
	message, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		message = nil
	}
	after, err := m.Int(afterArg, 0, c.server.size-1)
	if err != nil || after == c.rank {
		after = -1
	}
	c.server.events.Aborted(c.rank, Abort{Code: code, Message: string(message), After: after})
}

func (c *session) reply(command string, namesAndValues ...string) error {
	line, err := NewMessage(command, namesAndValues...).Format()
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	err = c.write(line)
	if errors.Is(err, syscall.EPIPE) {
		return net.ErrClosed
	}
	return err
}

// write gives the client replyTimeout in parts. A launcher that had no processor for that long itself, as where a
// thousand ranks start, finds that the time is over before it has tried to write.
func (c *session) write(line []byte) (err error) {
	const parts = 5
	for range parts {
		if err = c.conn.SetWriteDeadline(time.Now().Add(replyTimeout / parts)); err != nil {
			return err
		}
		var n int
		n, err = c.conn.Write(line)
		line = line[n:]
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
	return err
}

// encodeMessage makes one word of an abort's text. Of one that is too long for a line it keeps the beginning.
func encodeMessage(text string) string {
	const longest = MaxLine / 2
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}
