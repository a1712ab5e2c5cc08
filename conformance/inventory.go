package conformance

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"time"
)

// An inventory is what of the process a closed world must give back.
type inventory struct {
	goroutines  map[string]string // by number: the stack
	descriptors map[string]string // number and what it is
}

func takeInventory() inventory {
	// Go's own poller opens its descriptors with the first pipe or socket.
	if r, w, err := os.Pipe(); err == nil {
		r.Close()
		w.Close()
	}
	return inventory{goroutines: listGoroutines(), descriptors: listDescriptors()}
}

// compare complains of what is there now and was not before.
func (before inventory) compare(t *trial) {
	var stacks, descriptors []string
	// A goroutine that was told to end may take a moment to do so.
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(t.opts.timeout / 2); ; <-tick.C {
		now := takeInventory()
		stacks = surplus(before.goroutines, now.goroutines)
		descriptors = surplus(before.descriptors, now.descriptors)
		if len(stacks)+len(descriptors) == 0 {
			return
		}
		if time.Now().After(deadline) {
			break
		}
	}
	if len(stacks) > 0 {
		t.violate(ruleClean, "%d goroutines are left; the first:\n%s", len(stacks), stacks[0])
	}
	if len(descriptors) > 0 {
		t.violate(ruleClean, "%d descriptors are left open: %s", len(descriptors), strings.Join(descriptors, ", "))
	}
}

func surplus(before, now map[string]string) []string {
	var more []string
	for key, what := range now {
		if _, had := before[key]; !had {
			more = append(more, what)
		}
	}
	return more
}

func listGoroutines() map[string]string {
	buf := make([]byte, 1<<16)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	list := map[string]string{}
	for stack := range bytes.SplitSeq(buf, []byte("\n\n")) {
		number, _, _ := bytes.Cut(bytes.TrimPrefix(stack, []byte("goroutine ")), []byte(" "))
		list[string(number)] = string(stack)
	}
	return list
}

// listDescriptors needs /dev/fd, which Linux and macOS have; elsewhere it sees
// nothing.
func listDescriptors() map[string]string {
	list := map[string]string{}
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return list
	}
	for _, e := range entries {
		target, err := os.Readlink("/dev/fd/" + e.Name())
		if err != nil {
			continue // the one that ReadDir had
		}
		fd := e.Name() + " → " + target
		list[fd] = fd
	}
	return list
}
