package remote

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/hashicorp/yamux"
)

// An Order is what strand on a host is to start.
type Order struct {
	Program string   `json:"-"` // a path, or a name that is looked up there
	Args    []string `json:"-"`
	Dir     string   `json:"-"`
	Environ []string `json:"-"`     // added to that of the shell there
	Size    int      `json:"size"`  // ranks of the job
	Ranks   []int    `json:"ranks"` // those to start there, in order
	Bind    bool     `json:"bind,omitempty"`
	Stdin   bool     `json:"stdin,omitempty"` // the first of them gets the launcher's input
	// Pushed is how many bytes the program has if it is brought there; 0: it is there.
	Pushed int64 `json:"pushed,omitempty"`
	// Trace is the size of the ring of each rank, as in [local.Command].
	Trace int64 `json:"trace,omitempty"`
	// Grace is how long the ranks have that are asked to end, since the launcher is lost.
	Grace time.Duration `json:"grace,omitempty"`
}

// orderedText is the text of an order as bytes. Command lines, environments and paths need not be UTF-8, and a string of JSON
// would change what is not.
type orderedText struct {
	Program []byte   `json:"program"`
	Args    [][]byte `json:"args,omitempty"`
	Dir     []byte   `json:"dir,omitempty"`
	Environ [][]byte `json:"environ,omitempty"`
}

type orderedRest Order

// MarshalJSON implements [json.Marshaler].
func (o Order) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		orderedRest
		orderedText
	}{orderedRest(o), orderedText{[]byte(o.Program), allBytes(o.Args), []byte(o.Dir), allBytes(o.Environ)}})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (o *Order) UnmarshalJSON(line []byte) error {
	var text orderedText
	if err := errors.Join(json.Unmarshal(line, (*orderedRest)(o)), json.Unmarshal(line, &text)); err != nil {
		return err
	}
	o.Program, o.Dir = string(text.Program), string(text.Dir)
	o.Args, o.Environ = allStrings(text.Args), allStrings(text.Environ)
	return nil
}

func allBytes(texts []string) [][]byte {
	all := make([][]byte, len(texts))
	for i, text := range texts {
		all[i] = []byte(text)
	}
	return all
}

func allStrings(texts [][]byte) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = string(text)
	}
	return all
}

// What a stream carries.
const (
	ofHost    byte = iota // commands and reports
	ofPMI                 // the conversation of a rank and the launcher
	ofControl             // the channel of package control
	ofStdin
	ofStdout
	ofStderr
	ofProgram // the program itself
	ofTrace   // what a rank has recorded, when it has ended
	parts
)

// A command is what the launcher wants of the host. An empty one is a sign of life.
type command struct {
	Signal int  `json:"signal,omitempty"`
	Rank   int  `json:"rank,omitempty"`
	Asleep bool `json:"asleep,omitempty"` // no sign of life will come until the next command
}

// A report is what has happened there. An empty one is a sign of life.
type report struct {
	Started []int    `json:"started,omitempty"` // process numbers, in the order of the ranks
	Untied  string   `json:"untied,omitempty"`  // why what the ranks start may outlive strand there
	Failed  *failure `json:"failed,omitempty"`
	Exited  *exit    `json:"exited,omitempty"`
}

// A failure is why ranks could not be started.
type failure struct {
	Text   string `json:"text"`
	Status int    `json:"status"` // for the launcher to exit with
}

// An exit is how a rank ended.
type exit struct {
	Rank   int    `json:"rank"`
	Status uint32 `json:"status"` // as wait4 has it
}

// A StartError is why a host could not start its ranks.
type StartError struct {
	Host string
	failure
}

func (e *StartError) Error() string { return fmt.Sprintf("host %s: %s", e.Host, e.Text) }

// ExitStatus is the status for the launcher to exit with.
func (e *StartError) ExitStatus() int { return max(e.Status, 1) }

// longestLine bounds a line of JSON.
const longestLine = 8 << 20

// pipes is the shell as a connection.
type pipes struct {
	io.Reader
	closers
}

// closers ends both directions of a connection.
type closers struct {
	in *intake
	io.WriteCloser
}

// Close implements [io.Closer]. Who reads goes on at once; the other side then has to end too, by the end of what it reads.
func (c closers) Close() error { return errors.Join(c.in.Close(), c.WriteCloser.Close()) }

// streams opens a session over the shell. It keeps no time of its own: whoever is stopped, or does
// not read, takes as long as he likes. Signs of life are for the rest.
func streams(p pipes, near bool) (*yamux.Session, error) {
	c := yamux.DefaultConfig()
	c.EnableKeepAlive = false
	c.AcceptBacklog = 1 << 15
	c.ConnectionWriteTimeout = 24 * time.Hour
	c.StreamOpenTimeout, c.StreamCloseTimeout = 0, 0
	c.LogOutput = io.Discard
	if near {
		return yamux.Client(p, c)
	}
	return yamux.Server(p, c)
}

const headBytes = 5

// begin opens a stream.
func begin(s *yamux.Session, part byte, rank int) (conn, error) {
	c, err := s.OpenStream()
	if err != nil {
		return conn{}, err
	}
	head := binary.LittleEndian.AppendUint32([]byte{part}, uint32(rank))
	_, err = c.Write(head)
	return conn{c}, err
}

// accept takes a stream that the other side has opened.
func accept(s *yamux.Session) (c conn, part byte, rank int, err error) {
	y, err := s.AcceptStream()
	if err != nil {
		return conn{}, 0, 0, err
	}
	var head [headBytes]byte
	if _, err := io.ReadFull(y, head[:]); err != nil {
		return conn{}, 0, 0, err
	}
	return conn{y}, head[0], int(binary.LittleEndian.Uint32(head[1:])), nil
}

// A conn is a stream whose errors are those of a socket.
type conn struct{ *yamux.Stream }

func (c conn) Read(p []byte) (int, error) {
	n, err := c.Stream.Read(p)
	return n, asOfSocket(err)
}

func (c conn) Write(p []byte) (int, error) {
	n, err := c.Stream.Write(p)
	return n, asOfSocket(err)
}

func asOfSocket(err error) error {
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return err
	case errors.Is(err, yamux.ErrTimeout):
		return os.ErrDeadlineExceeded
	case errors.Is(err, yamux.ErrStreamClosed), errors.Is(err, yamux.ErrSessionShutdown), errors.Is(err, yamux.ErrConnectionReset):
		return net.ErrClosed
	}
	return err
}

// each calls f for every line of JSON, until the stream ends or f returns an error.
func each[T any](from io.Reader, f func(T) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 512), longestLine)
	for lines.Scan() {
		var message T
		if err := json.Unmarshal(lines.Bytes(), &message); err != nil {
			return err
		}
		if err := f(message); err != nil {
			return err
		}
	}
	return lines.Err()
}
