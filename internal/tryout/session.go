package tryout

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// An Order is the first message of the leader.
type Order struct {
	Token    string        `json:"token"`
	Timeout  time.Duration `json:"timeout"`
	Settings []Setting     `json:"settings,omitempty"` // parameters of its command line
}

// A Setting is a parameter and its value.
type Setting struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// introduction is what each side then says of itself.
type introduction struct {
	Host  string   `json:"host"`
	Side  string   `json:"side"`  // as reach.Side's text
	Ports []uint16 `json:"ports"` // of the doors, by address
	Error string   `json:"error,omitempty"`
}

// report is the last message of the follower.
type report struct {
	Outcomes []Outcome `json:"outcomes"`
}

// Bounds of what the other side may send, and of the time for an attempt.
const (
	maxLine    = 4 << 20
	minTimeout = 10 * time.Millisecond
	maxTimeout = time.Minute
)

// A Host is one side of a tryout.
type Host struct {
	Name  string
	Side  reach.Side
	Ports Ports
}

// A Result is what two hosts have found out.
type Result struct {
	Peer  string     // its name
	Side  reach.Side // what it publishes
	Tried []Tried
}

// Tried is a pair of addresses with what became of it in both directions.
type Tried struct {
	Local, Remote reach.Address
	There, Back   Outcome // connecting from here, and connecting from there
}

// wire is a conversation in lines.
type wire struct {
	in  *bufio.Scanner
	out io.Writer
}

func newWire(in io.Reader, out io.Writer) *wire {
	w := &wire{bufio.NewScanner(in), out}
	w.in.Buffer(make([]byte, 0, 4096), maxLine)
	return w
}

var errEnded = errors.New("the other side has ended the conversation")

func (w *wire) read(message any) error {
	if !w.in.Scan() {
		if err := w.in.Err(); err != nil {
			return err
		}
		return errEnded
	}
	if err := json.Unmarshal(w.in.Bytes(), message); err != nil {
		return fmt.Errorf("the other side says %.80q, which strand reach would not: %w", w.in.Bytes(), err)
	}
	return nil
}

func (w *wire) write(message any) error { return json.NewEncoder(w.out).Encode(message) }

// lastWords returns the error of a side that has not taken its order. It quotes what that side
// has said, if it is not what a follower says.
func (w *wire) lastWords(in io.Closer) error {
	hurry := time.AfterFunc(spareTime, func() { _ = in.Close() })
	defer hurry.Stop()
	if err := w.read(new(introduction)); err != nil {
		return err
	}
	return errEnded
}

// introduce tells the other side who we are and where our doors are, and hears the
// same from it. The leader hears first.
func (w *wire) introduce(h Host, d *Doors, leads bool) (reach.Side, introduction, error) {
	text, err := h.Side.MarshalText()
	if err != nil {
		return reach.Side{}, introduction{}, err
	}
	ours, theirs := introduction{Host: h.Name, Side: string(text), Ports: d.ports}, introduction{}
	if !leads {
		err = w.write(ours)
	}
	if err == nil {
		err = w.read(&theirs)
	}
	if theirs.Error != "" {
		return reach.Side{}, theirs, fmt.Errorf("on the other side: %s", words(theirs.Error))
	}
	if err == nil && leads {
		err = w.write(ours)
	}
	if err != nil {
		return reach.Side{}, theirs, err
	}
	theirs.Host = wireup.Plain([]byte(theirs.Host))
	var side reach.Side
	if err := side.UnmarshalText([]byte(theirs.Side)); err != nil {
		return side, theirs, err
	}
	if len(theirs.Ports) != len(side.Addresses) {
		return side, theirs, fmt.Errorf("the other side tells of %d addresses and %d ports", len(side.Addresses), len(theirs.Ports))
	}
	return side, theirs, nil
}

// spareTime is how much longer than planned the other side may take to try.
const spareTime = 10 * time.Second

// Lead tries all pairs together with a follower at the other end of a pair of pipes. It closes
// in if the follower takes too long.
func Lead(ctx context.Context, in io.ReadCloser, out io.Writer, h Host, timeout time.Duration, settings []Setting) (Result, error) {
	token := make([]byte, tokenSize/2)
	rand.Read(token) // it never fails (crypto/rand)
	order := Order{Token: hex.EncodeToString(token), Timeout: timeout, Settings: settings}
	w := newWire(in, out)
	doors, err := Open(h.Side.Addresses, order.Token, timeout, h.Ports)
	if err != nil {
		return Result{}, err
	}
	defer doors.Close()
	if err := w.write(order); err != nil {
		return Result{}, w.lastWords(in)
	}
	side, theirs, err := w.introduce(h, doors, true)
	if err != nil {
		return Result{}, err
	}
	ways := waysBetween(h.Side, side)
	there := tryAll(ctx, ways, h.Side, side, theirs.Ports, order.Token, timeout)
	planned := spareTime + timeout*time.Duration(1+len(ways)/atOnce)
	hurry := time.AfterFunc(planned, func() { _ = in.Close() })
	var back report
	err = w.read(&back)
	if !hurry.Stop() && err != nil {
		err = fmt.Errorf("the other side has not told within %v what it has tried", planned)
	}
	if err != nil {
		return Result{}, err
	}
	if len(back.Outcomes) != len(ways) {
		return Result{}, fmt.Errorf("the other side has tried %d pairs, not %d: is it of another version?", len(back.Outcomes), len(ways))
	}
	r := Result{Peer: theirs.Host, Side: side}
	for i, way := range ways {
		o := back.Outcomes[i]
		o.Why, o.SeenAs = words(o.Why), words(o.SeenAs)
		r.Tried = append(r.Tried, Tried{h.Side.Addresses[way.local], side.Addresses[way.remote], there[i], o})
	}
	return r, nil
}

// words makes what the other side says fit for a terminal, and short.
func words(text string) string {
	b := []byte(text[:min(len(text), 500)])
	for i, c := range b {
		if c < ' ' || c >= 0x7f {
			b[i] = '?'
		}
	}
	return string(b)
}

// Follow does the part of the follower. prepare makes this side's host from the leader's order.
// The leader is told of its error too.
func Follow(ctx context.Context, in io.Reader, out io.Writer, prepare func(Order) (Host, error)) error {
	w := newWire(in, out)
	var order Order
	if err := w.read(&order); err != nil {
		return err
	}
	if len(order.Token) != tokenSize || order.Timeout < minTimeout || order.Timeout > maxTimeout {
		return fmt.Errorf("an order with a token of %d digits and a time of %v, allowed are %d and %v to %v",
			len(order.Token), order.Timeout, tokenSize, minTimeout, maxTimeout)
	}
	h, err := prepare(order)
	var doors *Doors
	if err == nil {
		doors, err = Open(h.Side.Addresses, order.Token, order.Timeout, h.Ports)
	}
	if err != nil {
		return errors.Join(err, w.write(introduction{Error: err.Error()}))
	}
	defer doors.Close()
	side, theirs, err := w.introduce(h, doors, false)
	if err != nil {
		return err
	}
	// The leader's pairs, in the leader's order.
	ways := waysBetween(side, h.Side)
	mine := make([]way, len(ways))
	for i, v := range ways {
		mine[i] = way{v.remote, v.local}
	}
	if err := w.write(report{tryAll(ctx, mine, h.Side, side, theirs.Ports, order.Token, order.Timeout)}); err != nil {
		return err
	}
	// The doors stay open until the leader has been through them all.
	var nothing struct{}
	if err := w.read(&nothing); !errors.Is(err, errEnded) {
		return err
	}
	return nil
}

// CheckTimeout says what is wrong with a time for each attempt.
func CheckTimeout(d time.Duration) error {
	if d < minTimeout || d > maxTimeout {
		return fmt.Errorf("%v for an attempt: allowed are %v to %v", d, minTimeout, maxTimeout)
	}
	return nil
}
