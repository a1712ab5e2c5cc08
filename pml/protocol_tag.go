package pml

import "fmt"

// SendTag returns why no send has that tag.
func SendTag(tag int) error {
	if tag < 0 || tag > MaxTag {
		return fmt.Errorf("send: %w: %d is not in 0 to %d", ErrTag, tag, MaxTag)
	}
	return nil
}

// ReceiveTag returns why no receive, or probe, has that tag.
func ReceiveTag(what string, tag int) error {
	if tag < AnyTag || tag > MaxTag {
		return fmt.Errorf("%s: %w: %d is neither AnyTag nor in 0 to %d", what, ErrTag, tag, MaxTag)
	}
	return nil
}
