package credit

import "fmt"

// A Sender is what a peer lets us send unasked. The zero value may send nothing.
type Sender struct {
	granted, used uint32
	first         uint32 // what came with the hello
	reserve       uint32 // units that only what is urgent may spend
	opened        bool
}

// First is the first grant.
func (s *Sender) First() uint32 { return s.first }

// Reserve keeps units for what is urgent, so that what is not can not hold it up.
func (s *Sender) Reserve(units uint32) { s.reserve = units }

// Open takes the first grant, which came with the hello and was checked there. A
// second connection brings it again; that changes nothing.
func (s *Sender) Open(first uint32) {
	if !s.opened {
		s.opened, s.first = true, first
		_ = s.Update(first)
	}
}

// Current reports whether a grant is the newest that is known.
func (s *Sender) Current(granted uint32) bool { return granted == s.granted }

// Update takes a newer grant. An older one, which a newer one has overtaken, changes
// nothing. One of more than anybody can promise is damage.
func (s *Sender) Update(granted uint32) error {
	if int32(granted-s.granted) <= 0 {
		return nil
	}
	if free := int32(granted - s.used); free > Most {
		return fmt.Errorf("a grant of %d units of credit; no process has more than %d to grant", free, Most)
	}
	s.granted = granted
	return nil
}

// Available is how many units may be spent.
func (s *Sender) Available() uint32 {
	if left := int32(s.granted - s.used); left > 0 {
		return uint32(left)
	}
	return 0
}

// Spend takes units, if there are so many beside those that are reserved.
func (s *Sender) Spend(units uint32) bool {
	if s.Available() < units+s.reserve {
		return false
	}
	s.used += units
	return true
}

// SpendUrgently takes units, if there are so many.
func (s *Sender) SpendUrgently(units uint32) bool {
	if s.Available() < units {
		return false
	}
	s.used += units
	return true
}
