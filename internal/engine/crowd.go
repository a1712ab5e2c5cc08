package engine

import "time"

// Where ranks outnumber the processors it is mostly another rank that has to run before anything comes, and all of
// them wait for what a waiter polls in vain. An empty poll of a descriptor is a system call and takes about as long as to offer
// the processor, so a waiter makes few of them there. An empty poll of memory takes so little that to go on is no loss.
const (
	// crowdPolls is how many empty polls in a crowd come before those that are measured, and how many are measured.
	crowdPolls = 4
	// dearPolls is less than so many polls of a descriptor take, and more than of memory.
	dearPolls = int64(800 * time.Nanosecond)
)

// crowd is how dear the empty polls of a waiter in a crowd are.
type crowd struct {
	from int64 // when the measured polls began
	dear bool
}

// givesWay reports whether a waiter is to offer the processor now after so many empty polls in a row. It is asked after
// each of them.
func (c *crowd) givesWay(empty int, now func() int64) bool {
	switch empty {
	case crowdPolls:
		*c = crowd{from: now()}
	case 2 * crowdPolls:
		c.dear = now()-c.from >= dearPolls
	}
	return empty > crowdPolls && c.dear
}
