package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/strandmp/strand/internal/launcher/control"
)

// drainTime is how long what a rank has said last may take to leave.
const drainTime = time.Second

var errGone = errors.New("who has started this rank is gone")

// Answer is the other end of [Carry], or of [Ask]: it introduces this program, takes an order
// and has it carried out by serve, as a rank of the carrier's job, whose launcher it finds in
// the environment. What serve writes is what the rank tells. Answer returns when serve has, or
// when the input ends: then the process must end too.
func Answer(ctx context.Context, in io.Reader, out io.Writer, i Introduction, serve func(ctx context.Context, argument string, out io.Writer) error) error {
	if err := json.NewEncoder(out).Encode(i); err != nil {
		return err
	}
	r := bufio.NewReaderSize(in, 1<<20)
	text, err := r.ReadSlice('\n')
	if errors.Is(err, io.EOF) && len(text) == 0 {
		return nil // it only asked
	}
	var o order
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		return fmt.Errorf("%.80q is no order of strand compare, which alone calls this: %w", text, err)
	}
	sockets, err := o.enter()
	if err != nil {
		return err
	}
	back := &sender{out: out}
	var forwarding sync.WaitGroup
	for part, conn := range sockets {
		forwarding.Go(func() { back.forward(byte(part), conn) })
	}
	over := make(chan error, 1)
	go func() { over <- serve(ctx, o.Argument, output{back}) }()
	gone := make(chan error, 1)
	go func() { gone <- deliver(r, [parts]io.WriteCloser{sockets[ofPMI], sockets[ofControl]}) }()
	select {
	case err = <-over:
	case err := <-gone:
		return errors.Join(errGone, err)
	}
	for _, conn := range sockets {
		_ = conn.SetReadDeadline(time.Now().Add(drainTime)) // fails if there is nothing left
	}
	forwarding.Wait()
	return err
}

// enter makes this process a rank, as if its launcher had started it, and returns the
// launcher's ends.
func (o order) enter() (launcher [ofOutput]net.Conn, err error) {
	for _, entry := range o.Environ {
		name, value, _ := strings.Cut(entry, "=")
		if err := os.Setenv(name, value); err != nil {
			return launcher, fmt.Errorf("%s: %w", entry, err)
		}
	}
	for part, variable := range []string{ofPMI: pmiVariable, ofControl: control.Variable} {
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return launcher, fmt.Errorf("socketpair: %w", err)
		}
		if launcher[part], err = connOf(pair[0]); err != nil {
			return launcher, err
		}
		if err := os.Setenv(variable, strconv.Itoa(pair[1])); err != nil {
			return launcher, err
		}
	}
	return launcher, nil
}
