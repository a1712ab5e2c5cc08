package workload

import "fmt"

// Bounds of parameters: more is a slip of the finger.
const (
	MaxTasks = 1 << 30
	MaxMany  = 1 << 12  // of what there are some of: tags, tasks for a request, …
	maxSize  = 64 << 20 // bytes of a message
)

// A bound is what a number must be: 1 to max.
type bound struct {
	name       string
	value, max int
}

func inBounds(whose string, bounds ...bound) error {
	for _, b := range bounds {
		if b.value < 1 || b.value > b.max {
			return fmt.Errorf("%s with %d %s: want 1 to %d", whose, b.value, b.name, b.max)
		}
	}
	return nil
}

// CheckSize returns what is wrong with a message's size.
func CheckSize(size int) error {
	if size < numberBytes || size > maxSize {
		return fmt.Errorf("messages of %d bytes: want %d to %d", size, numberBytes, maxSize)
	}
	return nil
}

func atLeast(least, ranks int) error {
	if ranks < least {
		return fmt.Errorf("%d ranks: want at least %d", ranks, least)
	}
	return nil
}
