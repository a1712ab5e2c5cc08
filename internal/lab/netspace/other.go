//go:build !linux

package netspace

import "errors"

// Start does nothing here: there are no namespaces.
func Start() {}

// RaiseLoopback has nothing to do here: the loopback is the host's.
func RaiseLoopback() error { return nil }

// Isolated is never true here.
func Isolated() bool { return false }

// Isolate can not be had here.
func Isolate(func()) (status int, err error) {
	return 0, errors.New("this system has no network namespaces: networks of hosts can be built on Linux only")
}
