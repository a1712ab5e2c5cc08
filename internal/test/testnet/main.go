//go:build linux

package testnet

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/netspace"
)

// unavailable is why no network can be built, or "".
var unavailable = "not known: TestMain must call testnet.Main" // until it has

// Main is the TestMain of a package whose tests use networks. It does not
// return.
func Main(m *testing.M) {
	netspace.Start()
	endOrphans()
	err := probe()
	if netspace.Isolated() && err == nil {
		err = netspace.RaiseLoopback() // for tests that use the network around them, which is a new one
	}
	if errors.Is(err, unix.EPERM) && !netspace.Isolated() {
		status, inner := netspace.IsolateUser()
		if inner == nil {
			os.Exit(status)
		}
		err = fmt.Errorf("%w; in a user namespace: %w", err, inner)
	}
	unavailable = ""
	if err != nil {
		unavailable = err.Error()
	}
	os.Exit(m.Run())
}

// probe tries to make a namespace.
func probe() error {
	ns, err := netspace.New("probe")
	if err != nil {
		return err
	}
	return ns.Close()
}
