package sctp

import (
	"errors"
	"fmt"

	"github.com/strandmp/strand/wireup"
)

// An address is what a module publishes: one byte that says which stack it has,
// and where it can be reached (package wireup).
type address struct {
	stack byte
	wireup.Address
}

// Stacks in an address.
const (
	overIP  = 1 // the kernel's: SCTP over IP
	overUDP = 2 // the user stack's: SCTP over UDP
)

var errAddress = errors.New("malformed address")

func decodeAddress(b []byte) (*address, error) {
	if len(b) == 0 {
		return nil, fmt.Errorf("%w: it is empty", errAddress)
	}
	if b[0] != overIP && b[0] != overUDP {
		return nil, fmt.Errorf("%w: stack %d, allowed are %d and %d", errAddress, b[0], overIP, overUDP)
	}
	where, err := wireup.Decode(b[1:])
	if err != nil {
		return nil, err
	}
	return &address{stack: b[0], Address: *where}, nil
}

func stackName(s byte) string {
	if s == overIP {
		return "kernel"
	}
	return "user"
}
