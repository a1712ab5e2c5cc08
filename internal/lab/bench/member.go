package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/launch"
	"github.com/strandmp/strand/param"
)

// A memberSpec tells a process of a job what it is.
type memberSpec struct {
	Socket   string          // where to take orders
	Raw      *SocketOptions  // raw sockets
	RawUDP   bool            // raw sockets of UDP; none of these: Strand
	Settings []param.Setting // Strand's parameters
}

// argument is the spec as the one argument of the process.
func (m memberSpec) argument() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("bench: strings and numbers that JSON can not hold: %v", err))
	}
	return string(text)
}

// Member is what a process of a job does: it takes orders and answers with
// what each has taken, until there are no more.
func Member(ctx context.Context, argument string) error {
	var spec memberSpec
	if err := json.Unmarshal([]byte(argument), &spec); err != nil {
		return fmt.Errorf("bench member: %.80q: not what strand bench writes: %w", argument, err)
	}
	switch {
	case spec.Raw != nil:
		return rawMember(ctx, spec)
	case spec.RawUDP:
		return rawUDPMember(ctx, spec)
	}
	return strand.Run(ctx, func(ctx context.Context, w *strand.World) error {
		return takeOrders(ctx, spec.Socket, w.Rank(), newStrandTraffic(w.Comm()))
	}, strand.WithSettings(spec.Settings...))
}

func rawMember(ctx context.Context, spec memberSpec) error {
	job, err := launch.FromEnvironment(ctx)
	if err != nil {
		return err
	}
	fd, err := connectRaw(ctx, job, *spec.Raw)
	if err != nil {
		return err
	}
	defer rawio.Close(fd)
	pairs := job.Size() / 2
	t := &rawTraffic{link: &rawSocket{rawio.NewConn(fd), pairs > 1}, first: job.Rank() < pairs}
	if pairs > 1 {
		t.everybody = func() error { return job.Barrier(ctx) }
	}
	err = takeOrders(ctx, spec.Socket, job.Rank(), t)
	return errors.Join(err, job.Close())
}

func rawUDPMember(ctx context.Context, spec memberSpec) error {
	job, err := launch.FromEnvironment(ctx)
	if err != nil {
		return err
	}
	link, err := connectDatagrams(ctx, job)
	if err != nil {
		return err
	}
	defer rawio.Close(link.fd)
	err = takeOrders(ctx, spec.Socket, job.Rank(), &rawTraffic{link: link, first: job.Rank() == 0})
	return errors.Join(err, job.Close())
}

// takeOrders carries out orders until the socket ends.
func takeOrders(ctx context.Context, socket string, rank int, t traffic) error {
	orders, err := dialBlocking(socket)
	if err != nil {
		return err
	}
	defer orders.Close()
	if _, err := fmt.Fprintf(orders, "rank %d\n", rank); err != nil {
		return err
	}
	lines := bufio.NewReader(orders)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		o, err := parseOrder(line)
		if err != nil {
			return err
		}
		s, err := t.run(ctx, o)
		if err != nil {
			return fmt.Errorf("%v: %w", o, err)
		}
		if _, err := fmt.Fprintln(orders, s); err != nil {
			return err
		}
	}
}

// dialBlocking connects to a socket by a descriptor that Go's poller does not
// know: a process that is not measured is to be as still as can be, and one that
// is measured is to have no thread in a poll of its own.
func dialBlocking(path string) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	unix.CloseOnExec(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("orders at %s: %w", path, os.NewSyscallError("connect", err))
	}
	return os.NewFile(uintptr(fd), path), nil
}
