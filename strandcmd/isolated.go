package strandcmd

import "github.com/strandmp/strand/internal/lab/netspace"

// isolated runs a command in a process that may build networks. If this process may not, it
// starts the whole program once more, in namespaces of its own.
func isolated(run func() error) error {
	if netspace.Isolated() {
		return run()
	}
	status, err := netspace.Isolate(suspend)
	if err == nil && status != 0 {
		return statusError(status)
	}
	return err
}

// A statusError is the exit status of another process. It has no text: that process has said
// what was wrong.
type statusError int

func (statusError) Error() string     { return "" }
func (e statusError) ExitStatus() int { return int(e) }
