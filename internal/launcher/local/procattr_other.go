//go:build unix && !linux && !freebsd

package local

import "syscall"

// procAttr puts a rank into a process group of its own. These systems can not end a rank with
// its launcher.
func procAttr() *syscall.SysProcAttr { return groupAttr() }
