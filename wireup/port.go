package wireup

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Ports are those that a process may listen at: the first, and how many from there on. The
// zero value lets the system choose.
type Ports struct {
	First, Count int
	prefix       string // of the parameters that say so
	where        string // what they are, as the user wrote them
	warn         func(error)
}

// portTrouble reports whether another port may be free: the error of binding is that this one is
// taken, or the superuser's.
func portTrouble(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EACCES)
}

// chosenAnew is how often the system is asked to choose a port. Its choice for the first address
// may be taken at another address.
const chosenAnew = 64

// Bind finds a port that is free on all the addresses, and returns the sockets, or whatever open
// makes, in the order of the addresses. Open returns the port that it has bound; for port 0 that
// is the system's choice. Undo ends a socket whose port is not free on all. On names the
// addresses, for errors. Where the system is to choose and does not, the error is a [*btl.UnavailableError].
func Bind[A, S any](p Ports, on string, addrs []A, open func(addr A, port uint16) (S, uint16, error), undo func(S)) ([]S, uint16, error) {
	all := func(port uint16) ([]S, uint16, error) {
		var made []S
		for _, a := range addrs {
			s, got, err := open(a, port)
			if err != nil {
				for _, s := range made {
					undo(s)
				}
				return nil, port, err
			}
			made, port = append(made, s), got
		}
		return made, port, nil
	}
	if p.First == 0 {
		var last error
		for range chosenAnew {
			made, port, err := all(0)
			if err == nil {
				return made, port, nil
			}
			if last = err; port == 0 || !portTrouble(err) { // 0: at the very first address
				return nil, 0, p.refused(err)
			}
		}
		return nil, 0, p.refused(fmt.Errorf("no port is free on all of %s: %w", on, last))
	}
	var last error
	for port := p.First; port < p.First+p.Count; port++ {
		made, _, err := all(uint16(port))
		if err == nil || !portTrouble(err) {
			return made, uint16(port), err
		}
		last = err
	}
	return nil, 0, fmt.Errorf("%s is free on %s: %w (%s)", p.tried(), on, last, p.remedy(last))
}

// refused is the error where the system chooses no port. It is told too: ranks of other hosts, which see only that this
// one has no such transport, may have no other.
func (p Ports) refused(err error) error {
	if p.warn == nil {
		return err // the ports of no transport
	}
	err = unavailable(strings.TrimSuffix(strings.TrimPrefix(p.prefix, "btl_"), "_"), err)
	p.warn(err)
	return err
}

// tried names the ports that were tried, and the parameters that say so.
func (p Ports) tried() string {
	if p.Count == 1 {
		return fmt.Sprintf("not even the one port %d that may be used (%s)", p.First, p.where)
	}
	return fmt.Sprintf("none of the ports %d to %d (%s)", p.First, p.First+p.Count-1, p.where)
}

// remedy says what can be done about a range without a free port.
func (p Ports) remedy(err error) string {
	if errors.Is(err, syscall.EACCES) {
		return fmt.Sprintf("ports below 1024 are the superuser's: raise %s", p.prefix+portMin)
	}
	return fmt.Sprintf("each process of a host needs one: raise %s, or lower %s if the range ends at 65535", p.prefix+portRange, p.prefix+portMin)
}
