//go:build linux

package netspace

import (
	"bytes"
	"os/exec"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// A Cmd is an [exec.Cmd] in a process group of its own that ends with this process. The kernel
// ends it when the thread that started it ends, and Go does end threads, those of [OnThread]
// among them. So each Cmd keeps its thread from others until it is waited for.
type Cmd struct {
	*exec.Cmd
	waited chan struct{}
	once   sync.Once
}

// Bind makes a Cmd of a command that has not been started, whose SysProcAttr it sets.
func Bind(cmd *exec.Cmd) *Cmd {
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	return &Cmd{Cmd: cmd, waited: make(chan struct{})}
}

// Start is that of [exec.Cmd].
func (c *Cmd) Start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.Cmd.Start()
		started <- err
		if err == nil {
			<-c.waited
		}
	}()
	return <-started
}

// Wait is that of [exec.Cmd].
func (c *Cmd) Wait() error {
	err := c.Cmd.Wait()
	if c.Process != nil {
		c.once.Do(func() { close(c.waited) })
	}
	return err
}

// Run is that of [exec.Cmd].
func (c *Cmd) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// Output is that of [exec.Cmd], but its error does not hold what the command wrote to standard
// error.
func (c *Cmd) Output() ([]byte, error) {
	var out bytes.Buffer
	c.Stdout = &out
	err := c.Run()
	return out.Bytes(), err
}

// CombinedOutput is that of [exec.Cmd].
func (c *Cmd) CombinedOutput() ([]byte, error) {
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.Bytes(), err
}
