package workload

import "fmt"

// Bounds of parameters: more is a slip of the finger.
const (
	maxTasks = 1 << 30
	maxMany  = 1 << 12
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

func checkSize(size int) error {
	if size < numberBytes || size > maxSize {
		return fmt.Errorf("messages of %d bytes: want %d to %d", size, numberBytes, maxSize)
	}
	return nil
}
