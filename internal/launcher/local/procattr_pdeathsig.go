//go:build linux || freebsd

package local

import "syscall"

// procAttr puts a rank into a process group of its own, and has the kernel end it with the
// thread that started it (see startAll).
func procAttr() *syscall.SysProcAttr {
	attr := groupAttr()
	attr.Pdeathsig = syscall.SIGKILL
	return attr
}
