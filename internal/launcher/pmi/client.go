package pmi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"sync"
	"time"
)

// ErrNoKey: nobody has put that key (yet).
var ErrNoKey = errors.New("pmi: no such key")

// ErrGone: the launcher closed the connection.
var ErrGone = errors.New("pmi: the launcher has closed the connection")

// ErrClosed: this client was closed.
var ErrClosed = errors.New("pmi: the connection to the launcher is closed")

// MaxRanks bounds the size of a job, so that garbage is told from a number.
const MaxRanks = 1 << 24

// A Client is a process's side of the conversation with its launcher. Its
// methods are safe for any number of goroutines; one request is on its way at
// a time. A call whose context ends returns at once; its answer, when it
// comes, is passed over.
type Client struct {
	conn  net.Conn
	turn  chan struct{} // holds a token while a request is on its way
	lines lineReader    // guarded by turn
	owed  string        // command of a late answer to pass over, or ""; guarded by turn
	fault error         // why the conversation can not go on; guarded by turn

	job    string
	limits Limits
	place  Place

	closing sync.Once
	closed  error
}

// requestMax bounds a request. Slurm 22.05 announces values of up to 1024 bytes
// but reads a whole request into a buffer of that size, and takes the rest of
// a longer one for the next request.
const requestMax = 1000

// keyNeed is as long as keys need be. Some launchers take longer ones than a request has room for.
const keyNeed = 256

// Limits are in bytes. What a launcher takes is shorter than these.
type Limits struct{ Key, Value int }

// NewClient starts a conversation over a connection to a launcher. The client owns the
// connection from now on. Nothing is sent yet: call Attach if the connection was made to
// PMI_PORT, then Init.
func NewClient(conn net.Conn) *Client {
	return &Client{conn: conn, turn: make(chan struct{}, 1), lines: lineReader{from: conn}}
}

// Attach tells a launcher which process this is (PMI_ID), on a connection made to PMI_PORT. It
// returns rank and size, which such a launcher does not put into the environment.
func (c *Client) Attach(ctx context.Context, id string) (rank, size int, err error) {
	line, err := NewMessage("initack", "pmiid", id).Format()
	if err != nil {
		return 0, 0, err
	}
	err = c.exclusively(ctx, func() error {
		if _, err := c.conn.Write(line); err != nil {
			return err
		}
		if _, err := c.expect("initack"); err != nil {
			return err
		}
		size, err = c.receiveSet("size", 1, MaxRanks)
		if err != nil {
			return err
		}
		rank, err = c.receiveSet("rank", 0, size-1)
		if err != nil {
			return err
		}
		_, err = c.receiveSet("debug", -1<<31, 1<<31-1)
		return err
	})
	return rank, size, err
}

// receiveSet reads one of the settings that follow an initack.
func (c *Client) receiveSet(name string, low, high int) (int, error) {
	m, err := c.expect("set")
	if err != nil {
		return 0, err
	}
	return m.Int(name, low, high)
}

// Init opens the conversation proper: version, limits, the job's name.
func (c *Client) Init(ctx context.Context) error {
	m, err := c.ask(ctx, NewMessage("init", "pmi_version", "1", "pmi_subversion", "1"), "response_to_init")
	if err != nil {
		return err
	}
	if rc, _ := m.Value("rc"); rc != "0" {
		version, _ := m.Value("pmi_version")
		return fmt.Errorf("pmi: the launcher refused protocol version 1.1 (rc=%s; it speaks version %s)", rc, quote(version))
	}
	if c.place, err = readPlace(m); err != nil {
		return err
	}
	m, err = c.ask(ctx, NewMessage("get_maxes"), "maxes")
	if err != nil {
		return err
	}
	if c.limits.Key, err = m.Int("keylen_max", 16, math.MaxInt); err != nil {
		return err
	}
	if c.limits.Value, err = m.Int("vallen_max", 16, math.MaxInt); err != nil {
		return err
	}
	c.limits.Key = min(c.limits.Key, keyNeed) // the rest of a request is for the value
	m, err = c.ask(ctx, NewMessage("get_my_kvsname"), "my_kvsname")
	if err != nil {
		return err
	}
	name, found := m.Value("kvsname")
	if !found || name == "" {
		return errors.New("pmi: the launcher gave the job no name (kvsname)")
	}
	c.job = name
	c.limits.Value = min(c.limits.Value, requestMax-len("cmd=put kvsname= key= value=\n")-len(name)-c.limits.Key)
	if c.limits.Value < 16 {
		return fmt.Errorf("pmi: the launcher's name for the job, %s, leaves no room for a value in a request", quote(name))
	}
	return nil
}

// Job returns the launcher's name of the job. Valid after Init.
func (c *Client) Job() string { return c.job }

// Limits returns what the launcher allows. Valid after Init.
func (c *Client) Limits() Limits { return c.limits }

// A Place is which rank of how many a process is.
type Place struct{ Rank, Size int }

// Place returns which one the launcher takes this process for, the zero Place if it does not say. Valid after Init.
func (c *Client) Place() Place { return c.place }

// readPlace reads what Strand's own server adds to its first answer.
func readPlace(m Message) (p Place, err error) {
	if _, told := m.Value(rankArg); !told {
		return p, nil
	}
	if p.Size, err = m.Int(sizeArg, 1, MaxRanks); err != nil {
		return p, err
	}
	p.Rank, err = m.Int(rankArg, 0, p.Size-1)
	return p, err
}

// Put publishes a value; others may read it after the next Barrier. If PMI-1 or the launcher can
// not take key or value, it returns an error before anything is sent.
func (c *Client) Put(ctx context.Context, key, value string) error {
	if len(key) >= c.limits.Key || len(value) >= c.limits.Value {
		return fmt.Errorf("pmi: put %s: a key of %d and a value of %d bytes; this launcher takes less than %d and %d",
			quote(key), len(key), len(value), c.limits.Key, c.limits.Value)
	}
	if key == "" || value == "" {
		return fmt.Errorf("pmi: put %s: neither key nor value can be empty", quote(key))
	}
	m, err := c.ask(ctx, NewMessage("put", "kvsname", c.job, "key", key, "value", value), "put_result")
	if err != nil {
		return err
	}
	if rc, _ := m.Value("rc"); rc != "0" {
		reason, _ := m.Value("msg")
		return fmt.Errorf("pmi: put %s: refused by the launcher: rc=%s msg=%s", quote(key), rc, quote(reason))
	}
	return nil
}

// Get returns what was put under a key, or an error that is ErrNoKey.
func (c *Client) Get(ctx context.Context, key string) (string, error) {
	m, err := c.ask(ctx, NewMessage("get", "kvsname", c.job, "key", key), "get_result")
	if err != nil {
		return "", err
	}
	// PMI-1 has one failure for get. Hydra says rc=-1, Slurm rc=1.
	if rc, _ := m.Value("rc"); rc != "0" {
		return "", fmt.Errorf("%w: %s", ErrNoKey, quote(key))
	}
	value, found := m.Value("value")
	if !found {
		return "", fmt.Errorf("pmi: get %s: the launcher's answer has no value", quote(key))
	}
	return value, nil
}

// Barrier returns when every rank of the job has called it. If its context
// ends first, this rank still counts as having arrived.
func (c *Client) Barrier(ctx context.Context) error {
	m, err := c.ask(ctx, NewMessage("barrier_in"), "barrier_out")
	if err != nil {
		return err
	}
	if rc, found := m.Value("rc"); found && rc != "0" {
		reason, _ := m.Value("msg")
		return fmt.Errorf("pmi: barrier: it can not complete: rc=%s msg=%s", rc, quote(reason))
	}
	return nil
}

// Abort asks the launcher to end the job. It does not wait for a request that
// is on its way, and there is no answer: the caller exits. Only Strand's own
// launcher reports the message. Others pass over it, but may not take a line
// that is so long: for them it is to be empty.
func (c *Client) Abort(code int, message string) error {
	return c.abort(message, "exitcode", strconv.Itoa(code))
}

// AbortAfter is Abort of a rank that was well until another one failed. Only Strand's own server
// takes notice of which one that was.
func (c *Client) AbortAfter(failed, code int, message string) error {
	return c.abort(message, "exitcode", strconv.Itoa(code), afterArg, strconv.Itoa(failed))
}

func (c *Client) abort(message string, namesAndValues ...string) error {
	if message != "" {
		namesAndValues = append(namesAndValues, messageArg, encodeMessage(message))
	}
	line, err := NewMessage("abort", namesAndValues...).Format()
	if err != nil {
		return err
	}
	if err := c.conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	_, err = c.conn.Write(line)
	return err
}

// Close says goodbye to the launcher (finalize), waits for its answer until
// the context ends, and closes the connection. Only the first call does.
func (c *Client) Close(ctx context.Context) error {
	c.closing.Do(func() {
		_, err := c.ask(ctx, NewMessage("finalize"), "finalize_ack")
		c.closed = errors.Join(err, c.Drop())
	})
	return c.closed
}

// Drop closes the connection without a goodbye: to the launcher, this process
// has failed.
func (c *Client) Drop() error {
	err := c.conn.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
