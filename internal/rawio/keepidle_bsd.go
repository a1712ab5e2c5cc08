//go:build unix && !linux && !darwin

package rawio

import "golang.org/x/sys/unix"

const keepIdle = unix.TCP_KEEPIDLE
