//go:build linux

package testnet

import (
	"errors"
	"testing"

	"github.com/strandmp/strand/internal/test/need"
)

// A Net is the network of one test.
type Net struct {
	t     testing.TB
	hosts []*Host
}

// New makes an empty network, or skips the test where none can be had. It is
// torn down at the end of the test.
func New(t testing.TB) *Net {
	t.Helper()
	need.That(t, unavailable == "", "needs network namespaces (as the superuser, or in a user namespace: sysctl user.max_user_namespaces, "+
		"kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns): %s", unavailable)
	n := &Net{t: t}
	t.Cleanup(func() {
		if err := n.tearDown(); err != nil {
			t.Errorf("testnet: tearing down: %v", err)
		}
	})
	return n
}

// must ends the test if the network could not be built.
func (n *Net) must(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatalf("testnet: %v", err)
	}
}

// should marks the test as failed; any goroutine may call it.
func (n *Net) should(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Errorf("testnet: %v", err)
	}
}

func (n *Net) tearDown() error {
	var errs []error
	for _, h := range n.hosts {
		errs = append(errs, h.kill())
	}
	for _, h := range n.hosts {
		errs = append(errs, h.tearDown())
	}
	n.hosts = nil
	return errors.Join(errs...)
}
