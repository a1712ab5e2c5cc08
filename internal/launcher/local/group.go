package local

import (
	"sync"
	"syscall"
)

// A Group is the process group that a child of this process leads.
type Group struct {
	PID int // of the child

	mu   sync.Mutex
	gone bool // another group may have the number by now
}

// Signal sends s to the group, unless that is gone. Its error is that of kill(2).
func (g *Group) Signal(s syscall.Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone {
		return nil
	}
	return syscall.Kill(-g.PID, s)
}

// Reap calls wait, which reaps the child, when the child has ended. By then it has killed what the
// child left in its group, which gets no signal any more.
func (g *Group) Reap(wait func() error) error {
	if awaitEnd(g.PID) {
		g.end() // its number is kept until wait
	}
	err := wait()
	g.end()
	return err
}

// end kills what is in the group. It is the last signal to it.
func (g *Group) end() {
	_ = g.Signal(syscall.SIGKILL) // there may be nobody left
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = true
}

// groupAttr has a child lead a group.
func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
