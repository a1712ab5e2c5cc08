//go:build !race || !linux

package sealed

// An Order tells the race detector what happens before what; there is none here.
type Order struct{}

// OrderOf is one of two orders that belong to a memory.
func OrderOf(int, bool) Order { return Order{} }

// Wrote is called before others are told of what was written.
func (Order) Wrote() {}

// Reads is called before what others have written is read.
func (Order) Reads() {}
