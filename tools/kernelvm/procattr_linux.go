package main

import "syscall"

// endWithParent lets no machine outlive this process.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
