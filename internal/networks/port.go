package networks

import (
	"errors"
	"syscall"
)

// PortTrouble tells errors of binding that another port may not have: this one is taken, or
// the superuser's.
func PortTrouble(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EACCES)
}
