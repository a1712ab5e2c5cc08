package match

import "fmt"

// order tracks which of a sequence of numbers have arrived. Numbers start at 0
// and wrap around; those outstanding span less than 2³¹.
type order struct {
	next   uint32              // every lower number has arrived
	early  map[uint32]*Message // arrived ahead of a gap; nil: received, or of a context that is no more
	sender *Sender             // whose numbers they are; nil: without a bound
}

// A Sender bounds how many numbers of one sender may be known beyond gaps, in all its channels
// and lanes together. Each takes memory until the missing ones have come, and a sender that
// makes numbers up never sends those. The zero value bounds nothing.
type Sender struct {
	// Limit is how many there may be; 0: any number.
	Limit int
	early int
}

// withinLimits reports an error if n has arrived before, or if too much is missing before it.
func (o *order) withinLimits(n uint32) error {
	if n == o.next {
		return nil
	}
	_, dup := o.early[n]
	if dup || int32(n-o.next) < 0 {
		return fmt.Errorf("number %d has arrived already (next is %d)", n, o.next)
	}
	if s := o.sender; s != nil && s.Limit > 0 && s.early >= s.Limit {
		return fmt.Errorf("number %d has arrived before %d, and %d others are ahead of what is missing too", n, o.next, s.early)
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
	if o.sender != nil {
		o.sender.early++
	}
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
		if o.sender != nil {
			o.sender.early--
		}
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
