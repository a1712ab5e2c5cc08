package wireup

import (
	"errors"
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/openfiles"
)

// unavailable is the error of a transport to which the system does not show its interfaces, or gives no
// sockets. That is no mistake of the user's, and others may serve without.
func unavailable(name string, err error) error {
	return &btl.UnavailableError{Component: name, Reason: err.Error(), Remedy: remedyWithoutSockets("btl_"+name+"_", err)}
}

// widen says how the system gets more ports to choose from.
const widen = "on Linux widen net.ipv4.ip_local_port_range with sysctl"

// remedyWithoutSockets says what to do where the system gives no sockets. The names of the transport's parameters begin with prefix.
func remedyWithoutSockets(prefix string, err error) string {
	switch {
	case openfiles.Exhausted(err):
		return openfiles.Remedy(err)
	case errors.Is(err, syscall.EADDRINUSE):
		return "the system has no port left to choose: " + widen + ", or name others with " + prefix + portMin
	case errors.Is(err, syscall.EAFNOSUPPORT), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return "the system does not allow such sockets: a sandbox may forbid them, as systemd's RestrictAddressFamilies or a container's seccomp profile"
	}
	return ""
}
