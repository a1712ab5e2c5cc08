package strandcmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/lab/topology"
	"github.com/strandmp/strand/param"
)

// netUp builds a network in a process that is allowed to, and runs a command there.
func netUp(cmd *cobra.Command, t *topology.Topology, command []string) error {
	if !netspace.Isolated() {
		defer lendTerminal()()
	}
	return isolated(func() (err error) {
		terminal := takeTerminal()
		ctx, stop := interruptible(commandContext(cmd))
		defer stop()
		n, err := network.New(networkOf(t))
		if err != nil {
			return err
		}
		defer func() {
			r, closeErr := n.Close()
			err = errors.Join(err, closeErr)
			tellNets(cmd.ErrOrStderr(), cmd.CommandPath(), r)
		}()
		d, err := describeNet(n, t)
		if err != nil {
			return err
		}
		for _, h := range d.Hosts {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s is %s\n", cmd.CommandPath(), h.Name, h.addresses())
		}
		return runWithNet(ctx, d, command, terminal)
	})
}

// networkOf returns what to build. The kernel may emulate a network in which all hosts and ways
// are alike.
func networkOf(t *topology.Topology) network.Config {
	c := network.Config{Hosts: len(t.Hosts), Names: t.Hosts, MTU: t.MTU, Seed: t.Seed}
	for _, net := range t.Networks {
		n := network.Net{Name: net.Name, On: net.On, Down: net.Down}
		if link, uniform := net.Uniform(); uniform {
			n.Link = link
		} else {
			n.NICs, n.Between = net.NICs, net.Path
		}
		c.Nets = append(c.Nets, n)
	}
	return c
}

// tellNets says what has happened on the networks.
func tellNets(out io.Writer, command string, r network.Report) {
	for _, n := range r.Nets {
		of, down := "", ""
		if n.Name != "" {
			of = n.Name + ": "
		}
		if len(n.Down) > 0 {
			down = fmt.Sprintf(", %d while it was down (%s of %v)", n.Total.Cut, emulate.Schedule{Outages: n.Down}, n.Lived.Round(time.Millisecond))
		}
		fmt.Fprintf(out, "%s: %s%d frames sent: %d lost%s, %d found a queue full, %d spoilt by this machine\n",
			command, of, n.Total.Sent, n.Total.Lost, down, n.Total.DroppedOut+n.Total.DroppedIn, n.Wire.Spoilt())
	}
}

func describeNet(n *network.Network, t *topology.Topology) (netDescription, error) {
	processes, err := processNamespace()
	d := netDescription{Holder: os.Getpid(), Processes: processes}
	for _, h := range n.Hosts() {
		host := netHost{Name: h.Name(), Prefix: h.Prefix()}
		if addr := h.Addr(); addr.IsValid() {
			host.Address = addr.String()
		}
		for i, net := range t.Networks {
			if addr, there := h.AddrOn(i); there && net.Name != "" {
				host.Networks = append(host.Networks, netAddress{net.Name, addr.String()})
			}
		}
		d.Hosts = append(d.Hosts, host)
	}
	return d, err
}

// processNamespace names the PID namespace in which this process has its number.
func processNamespace() (string, error) { return os.Readlink("/proc/self/ns/pid") }

// terminalVariable tells the process that builds the network that its caller has the terminal
// and hands it on. That process can not find this out itself.
const terminalVariable = param.ReservedEnv + "TERMINAL"

// takeTerminal reports whether the command is to have the terminal. It removes terminalVariable,
// which is not for the command.
func takeTerminal() bool {
	_, handed := os.LookupEnv(terminalVariable)
	_ = os.Unsetenv(terminalVariable) // it fails only for a malformed name
	return handed
}

// lendTerminal hands on the terminal if this process group is in its foreground and standard
// output is a terminal too. In a pipeline the other programs need it. The returned function
// takes the terminal back and restores its modes.
func lendTerminal() (restore func()) {
	terminal, own := int(os.Stdin.Fd()), unix.Getpgrp()
	group, err := unix.IoctlGetInt(terminal, unix.TIOCGPGRP)
	_, notOut := unix.IoctlGetInt(int(os.Stdout.Fd()), unix.TIOCGPGRP)
	if err != nil || notOut != nil || group != own {
		return func() {}
	}
	modes, modesErr := unix.IoctlGetTermios(terminal, unix.TCGETS)
	_ = os.Setenv(terminalVariable, "1") // it fails only for a malformed name or value
	return func() {
		signal.Ignore(unix.SIGTTOU) // else a background process is stopped by the next call
		_ = unix.IoctlSetPointerInt(terminal, unix.TIOCSPGRP, own)
		if modesErr == nil { // a shell that was killed leaves its modes behind
			_ = unix.IoctlSetTermios(terminal, unix.TCSETSW, modes)
		}
		signal.Reset(unix.SIGTTOU)
	}
}

// netExec turns this process into a command on a host.
func netExec(h netHost, command []string) error {
	err := unix.Exec(h.Prefix[0], append(h.Prefix, command...), os.Environ())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("host %s: its network is gone, or is another user's (%w)", h.Name, err)
	}
	return fmt.Errorf("host %s: %w", h.Name, err)
}

// end ends the process that holds the network.
func (n netDescription) end() error {
	here, err := processNamespace()
	if err == nil && here != n.Processes {
		err = errors.New("its number means another one here: only what the network was started for can end it")
	}
	if err == nil {
		err = unix.Kill(n.Holder, unix.SIGTERM)
	}
	if err != nil {
		return fmt.Errorf("the network's process %d: %w", n.Holder, err)
	}
	return nil
}

// A notStartedError is about a command that can not be started.
type notStartedError struct{ error }

func (e notStartedError) Unwrap() error { return e.error }

// ExitStatus is 127 for a command that was not found, else 126, as in shells.
func (e notStartedError) ExitStatus() int {
	if errors.Is(e.error, fs.ErrNotExist) || errors.Is(e.error, exec.ErrNotFound) {
		return 127
	}
	return 126
}

// start starts the command.
func start(command, environ []string, terminal bool) (*os.Process, error) {
	c := exec.Command(command[0], command[1:]...)
	c.Env = append(os.Environ(), environ...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: terminal, Ctty: int(os.Stdin.Fd())}
	if err := c.Start(); err != nil {
		return nil, notStartedError{err}
	}
	return c.Process, nil
}
