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

// drainTime is how long it may take to forward what a rank has said last.
const drainTime = time.Second

var errGone = errors.New("who has started this rank is gone")

// Answer is the other end of [Carry], or of [Ask]. It introduces this program, takes an order
// and calls serve to carry it out, as a rank of the carrier's job: serve finds the launcher in
// the environment, and the carrier passes on what serve writes. Answer returns when serve has
// returned, or when the input ends. Then the process must end too.
func Answer(ctx context.Context, in io.Reader, out io.Writer, i Introduction, serve func(ctx context.Context, argument string, out io.Writer) error) error {
	if err := json.NewEncoder(out).Encode(i); err != nil {
		return err
	}
	r := bufio.NewReaderSize(in, 1<<20)
	text, err := r.ReadSlice('\n')
	if errors.Is(err, io.EOF) && len(text) == 0 {
		return nil // an Ask sends no order
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

// enter makes this process a rank, as if its launcher had started it. It returns the launcher's
// ends of the rank's sockets.
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
