package job

import (
	"fmt"
	"sync"
)

// maxNotes bounds how many of the launcher's own lines wait to be read.
const maxNotes = 1 << 14

// notes are the launcher's own lines. Adding one does not wait for a reader: the launcher goes
// on when nobody reads.
type notes struct {
	show    func(line string) // may block
	working *sync.WaitGroup

	mu      sync.Mutex
	waiting []string
	omitted int
	busy    bool // somebody shows them
}

func (n *notes) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) >= maxNotes {
		n.omitted++
		return
	}
	n.waiting = append(n.waiting, line)
	if !n.busy {
		n.busy = true
		n.working.Go(n.showAll)
	}
}

// showAll shows notes until there are none.
func (n *notes) showAll() {
	for {
		lines := n.take()
		if len(lines) == 0 {
			return
		}
		for _, line := range lines {
			n.show(line)
		}
	}
}

func (n *notes) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := n.waiting
	n.waiting = nil
	if n.omitted > 0 {
		lines = append(lines, fmt.Sprintf("strand run: %d lines are left out here: nobody has read what came before\n", n.omitted))
		n.omitted = 0
	}
	n.busy = len(lines) > 0
	return lines
}
