package rawio

import "golang.org/x/sys/unix"

const keepIdle = unix.TCP_KEEPALIVE // Darwin's name for it
