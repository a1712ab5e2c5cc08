package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/strandmp/strand/param"
)

// Variable has the number of the inherited descriptor.
const Variable = param.ReservedEnv + "CONTROL_FD"

// ErrEnded: either side has closed the channel, or the other one has sent what is no message.
var ErrEnded = errors.New("control: the channel has ended")

// A Failure says how a rank ended that did not leave the job in order.
type Failure struct {
	Rank   int    `json:"rank"`
	Host   string `json:"host"`
	How    string `json:"how"`              // for people: "was killed by signal 9 (SIGKILL)"
	Status int    `json:"status,omitempty"` // with which it exited, or aborted
	Signal int    `json:"signal,omitempty"` // that killed it
}

// A Departure says that a rank has left the job in order.
type Departure struct {
	Rank int    `json:"rank"`
	Host string `json:"host"`
}

// order is a message of the launcher's.
type order struct {
	Failed *Failure   `json:"failed,omitempty"`
	Left   *Departure `json:"left,omitempty"`   // answers a call
	Report bool       `json:"report,omitempty"` // asks for one
	Called *int       `json:"called,omitempty"` // the rank that asks this one to connect to it
}

// word is a message of a rank's.
type word struct {
	Report   json.RawMessage `json:"report,omitempty"`
	NoReport string          `json:"no_report,omitempty"` // why there is none
	Warning  string          `json:"warning,omitempty"`
	Call     *int            `json:"call,omitempty"` // the rank that is to connect to this one
}

// Bounds of a message in bytes. A report has a line of some 300 bytes for each
// connection.
const (
	maxOrder   = 64 << 10
	maxWord    = 8 << 20
	maxReport  = maxWord - 64 // the rest is for what wraps the report
	maxWarning = 4 << 10
)

// encode writes a message as a line. All messages of this package have a form in JSON.
func encode(message any) []byte {
	line, err := json.Marshal(message)
	if err != nil {
		panic("control: " + err.Error())
	}
	return append(line, '\n')
}

// each calls f for every message that arrives. When there are no more it returns ErrEnded: alone
// if either side has closed the channel or the time of EndWithin is over, otherwise joined to
// the reason.
func each[T any](from io.Reader, most int, f func(*T)) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 512), most)
	for lines.Scan() {
		var message T
		if err := json.Unmarshal(lines.Bytes(), &message); err != nil {
			return errors.Join(ErrEnded, err)
		}
		f(&message)
	}
	err := lines.Err()
	if errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil // a process that exits or is killed says no goodbye here
	}
	if err == nil {
		return ErrEnded
	}
	return errors.Join(ErrEnded, err)
}
