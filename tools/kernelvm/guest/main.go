//go:build linux

// Command guest is the first process of a test machine. It sets up what tests
// expect of a system, loads the kernel modules, runs the test binaries of its
// plan one after the other, reports how they ended and powers off.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/tools/kernelvm/plan"
)

func main() {
	m := new(machine)
	if err := m.start(); err != nil {
		m.tell(plan.Event{Kind: plan.Problem, Text: err.Error()})
	} else {
		m.runAll()
	}
	m.tell(plan.Event{Kind: plan.Done})
	m.powerOff()
}

// A machine is this one, with its serial lines and what it is to do.
type machine struct {
	control, output *os.File
	plan            plan.Plan
}

// start makes a usable system of a bare kernel.
func (m *machine) start() error {
	if err := mountAll(); err != nil {
		return err
	}
	var err error
	if m.control, err = openLine(plan.Control); err != nil {
		return err
	}
	if m.output, err = openLine(plan.Output); err != nil {
		return err
	}
	text, err := os.ReadFile(plan.File)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &m.plan); err != nil {
		return fmt.Errorf("%s: %w", plan.File, err)
	}
	for _, file := range m.plan.Modules {
		if err := load(file); err != nil {
			return err
		}
	}
	if err := raiseLoopback(); err != nil {
		return err
	}
	m.tell(plan.Event{Kind: plan.Booted, Text: release()})
	return nil
}

// tell sends an event, or says on the console that it can not.
func (m *machine) tell(e plan.Event) {
	if m.control == nil {
		fmt.Println(e.Text)
		return
	}
	if err := plan.Send(m.control, e); err != nil {
		fmt.Println("guest:", plan.Control, err)
	}
}

// powerOff ends the machine when all that was said has left its serial lines.
func (m *machine) powerOff() {
	for _, line := range []*os.File{m.output, m.control} {
		if line != nil {
			drain(line)
		}
	}
	fmt.Println("guest: power off:", unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF))
}
