// Package plan is what a test machine and the program that boots it say to each
// other: the machine is given a [Plan] as a file and answers with events on a
// line of its own.
package plan

import (
	"encoding/json"
	"io"
	"time"
)

// File is where the machine finds its plan.
const File = "/plan.json"

// The machine's serial lines, in QEMU's order.
const (
	Console = "/dev/ttyS0" // what the kernel says
	Output  = "/dev/ttyS1" // what the tests print
	Control = "/dev/ttyS2" // events
)

// Kernel is the environment variable, set to 1, by which tests know that they
// run in the test machine, where nothing that they need of a kernel is missing.
const Kernel = "STRANDTEST_KERNEL"

// A Plan is what the machine does.
type Plan struct {
	// Modules are the files of kernel modules in the order of loading.
	Modules []string
	Tests   []Test
	// Flags are for every test binary: "-test.v".
	Flags []string
	// Env is the tests' environment beside what every process has.
	Env []string
	// Limit is how long the machine may take for all tests.
	Limit time.Duration
}

// A Test is one package's test binary.
type Test struct {
	Package string // import path
	Binary  string
	Dir     string // where it runs
}

// An Event is one thing that happened in the machine.
type Event struct {
	Kind    Kind
	Package string        `json:",omitempty"`
	Status  int           `json:",omitempty"` // exit status of the test binary, 128 + signal if killed
	Took    time.Duration `json:",omitempty"`
	Text    string        `json:",omitempty"`
}

// Kind says what happened.
type Kind string

const (
	Booted  Kind = "booted"  // Text: the kernel's release
	Problem Kind = "problem" // Text: what could not be set up
	Started Kind = "started" // Package
	Ended   Kind = "ended"   // Package, Status, Took
	Done    Kind = "done"    // all tests have run
)

// Send writes an event as one line.
func Send(w io.Writer, e Event) error { return json.NewEncoder(w).Encode(e) }

// Receive calls f for every event until the line ends, and returns what else than
// its end ended it.
func Receive(r io.Reader, f func(Event)) error {
	for d := json.NewDecoder(r); ; {
		var e Event
		if err := d.Decode(&e); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		f(e)
	}
}
