package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/strandmp/strand/internal/launcher/control"
	"github.com/strandmp/strand/param"
)

// A Place is where one rank runs.
type Place struct {
	Host Host `json:"host"`
	// LocalRank is the rank's number among those of its host, LocalRanks how many
	// they are.
	LocalRank  int `json:"local_rank"`
	LocalRanks int `json:"local_ranks"`
}

// An order is what the program there is to do.
type order struct {
	Environ  []string `json:"environ"`
	Argument string   `json:"argument"`
}

// The variable by which a rank finds its launcher.
const pmiVariable = "PMI_FD"

// Carry is the carrier of one rank. It runs in the rank's stead, with the rank's environment,
// and starts the rank on its host. It writes the rank's output to out, and passes the argument
// to the rank. An *exec.ExitError in its error is how the rank ended.
func Carry(ctx context.Context, p Place, build, argument string, out io.Writer) error {
	var sockets [ofOutput]net.Conn
	for part, variable := range []string{ofPMI: pmiVariable, ofControl: control.Variable} {
		conn, err := inherited(variable)
		if err != nil {
			return err
		}
		defer conn.Close()
		sockets[part] = conn
	}
	environ := p.environ()
	l, err := p.Host.open(ctx, build, func(cmd *exec.Cmd) { cmd.Stderr = os.Stderr })
	if err != nil {
		return err
	}
	text, err := json.Marshal(order{environ, argument})
	if err == nil {
		_, err = l.out.Write(append(text, '\n'))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("host %s: %w", p.Host.Name, err), l.end())
	}
	there := &sender{out: l.out}
	for part, conn := range sockets {
		go there.forward(byte(part), conn) // until the process ends
	}
	err = deliver(l.in, [parts]io.WriteCloser{sockets[ofPMI], sockets[ofControl], open{out}})
	if err != nil {
		err = fmt.Errorf("host %s: %w", p.Host.Name, err)
	}
	return errors.Join(err, l.end())
}

// open keeps a writer from being closed.
type open struct{ io.Writer }

func (open) Close() error { return nil }

// inherited returns the socket that a variable names, and removes the variable from the
// environment.
func inherited(variable string) (net.Conn, error) {
	text := os.Getenv(variable)
	_ = os.Unsetenv(variable)
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 3 {
		return nil, fmt.Errorf("%s=%q: this is started by strand compare alone, which leaves a socket there", variable, text)
	}
	return connOf(fd)
}

// connOf makes a connection of a descriptor. It closes the descriptor.
func connOf(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	return net.FileConn(f) // a copy
}

// environ returns the part of this process's environment that the rank needs: its place in the
// job, and parameters.
func (p Place) environ() []string {
	var kept []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if name == "PMI_RANK" || name == "PMI_SIZE" || strings.HasPrefix(name, param.EnvName("")) {
			kept = append(kept, entry)
		}
	}
	return append(kept, "MPI_LOCALRANKID="+strconv.Itoa(p.LocalRank), "MPI_LOCALNRANKS="+strconv.Itoa(p.LocalRanks))
}
