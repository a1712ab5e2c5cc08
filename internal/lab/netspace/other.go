//go:build !linux

package netspace

import "errors"

// Start does nothing here: there are no namespaces.
func Start() {}

// Isolated is never true here.
func Isolated() bool { return false }

// Isolate can not be had here.
func Isolate() (status int, err error) {
	return 0, errors.New("this system has no network namespaces: networks of hosts can be built on Linux only")
}
