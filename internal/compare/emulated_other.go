//go:build !linux

package compare

import (
	"errors"

	"github.com/strandmp/strand/internal/compare/results"
	"github.com/strandmp/strand/internal/emulate"
)

// Emulated needs Linux.
type Emulated struct{}

var errNeedsLinux = errors.New("networks of hosts can be built on Linux only")

// Links implements [Ground].
func (Emulated) Links() results.Links { return results.Links{Kind: results.UserSpace} }

// Offer implements [Ground].
func (Emulated) Offer(link emulate.Link) (*emulate.Link, string) { return &link, errNeedsLinux.Error() }

// Facts implements [Ground].
func (Emulated) Facts(int) map[string]string { return nil }

// Open implements [Ground].
func (Emulated) Open(Conditions) (Site, error) { return nil, errNeedsLinux }
