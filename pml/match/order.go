package match

import "fmt"

// order tracks which of a sequence of numbers have arrived. Numbers start at 0
// and wrap around; those outstanding span less than 2³¹.
type order struct {
	next  uint32              // every lower number has arrived
	early map[uint32]*Message // arrived ahead of a gap; nil: void or received
}

// admits reports an error if n has arrived before.
func (o *order) admits(n uint32) error {
	_, dup := o.early[n]
	if dup || int32(n-o.next) < 0 {
		return fmt.Errorf("number %d has arrived already (next is %d)", n, o.next)
	}
	return nil
}

// arrive notes that n has arrived and reports whether it closed a gap; if so
// the caller advances.
func (o *order) arrive(n uint32, m *Message) bool {
	if n == o.next {
		o.next++
		return true
	}
	if o.early == nil {
		o.early = make(map[uint32]*Message)
	}
	o.early[n] = m
	return false
}

// advance moves past the numbers that had arrived early and are next now. It
// appends to the list the message that closed the gap, if any, and theirs, in
// the order of their numbers.
func (o *order) advance(list []*Message, first *Message) []*Message {
	if first != nil {
		list = append(list, first)
	}
	for len(o.early) > 0 {
		m, ok := o.early[o.next]
		if !ok {
			break
		}
		delete(o.early, o.next)
		o.next++
		if m != nil {
			list = append(list, m)
		}
	}
	return list
}

// forget keeps the number of an early message that has been received.
func (o *order) forget(n uint32) {
	if _, ok := o.early[n]; ok {
		o.early[n] = nil
	}
}
