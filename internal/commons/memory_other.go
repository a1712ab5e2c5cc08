//go:build !linux

package commons

import "errors"

var errNotHere = errors.New("ranks have no memory in common on this system")

// Make is for Linux alone.
func Make(int, int) (*Memory, Ticket, func(), error) { return nil, Ticket{}, nil, errNotHere }

// Join is for Linux alone.
func Join(Ticket, int, int, int) (*Memory, error) { return nil, errNotHere }

// Close does nothing.
func (m *Memory) Close() {}

type lending struct{}

// OfferLoans does nothing.
func (m *Memory) OfferLoans() {}

// TryLoans is for Linux alone.
func (m *Memory) TryLoans() error { return errNotHere }

// RefuseLoans does nothing.
func (m *Memory) RefuseLoans() {}

// Lends is false.
func (m *Memory) Lends() bool { return false }

// Address is for Linux alone.
func (m *Memory) Address([]byte) uint64 { return 0 }

// Read is for Linux alone.
func (m *Memory) Read(int, uint64, []byte) error { return errNotHere }
