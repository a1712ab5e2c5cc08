package need

import "golang.org/x/sys/unix"

// kernelSCTP asks for a socket, which loads the module if it is there.
func kernelSCTP() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, unix.IPPROTO_SCTP)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}
