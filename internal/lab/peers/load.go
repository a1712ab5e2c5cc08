package peers

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A look at the processors tells how much all programs, and this one with its children, have used.
type look struct {
	at        time.Time
	all, ours time.Duration
}

// tick is the unit of /proc/stat.
const tick = 10 * time.Millisecond

func lookAtProcessors() look {
	l := look{at: time.Now()}
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return l
	}
	first, _, _ := strings.Cut(string(text), "\n")
	l.all = busy(strings.Fields(first))
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			l.ours += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return l
}

// busy is what programs had, by the first line of /proc/stat: user, nice, system, and what other
// machines of the same host took (steal). Interrupts are not counted: on the loopback they are ours.
func busy(fields []string) (sum time.Duration) {
	for _, place := range []int{1, 2, 3, 8} {
		if place < len(fields) {
			n, _ := strconv.ParseInt(fields[place], 10, 64)
			sum += time.Duration(n) * tick
		}
	}
	return sum
}

// others is the share of the processors that other programs had since an earlier look. Children
// count when they have ended.
func (l look) others(before look) float64 {
	span := l.at.Sub(before.at) * time.Duration(runtime.NumCPU())
	if span <= 0 || l.all == 0 {
		return 0
	}
	return min(max(0, float64((l.all-before.all)-(l.ours-before.ours))/float64(span)), 1)
}

// Busy says that the machine has other things to do, before time is spent on it; "" if it has not.
func Busy() string {
	if load := loadAverage(); load > float64(runtime.NumCPU())/2 {
		return fmt.Sprintf("other programs run here (load %.1f): what is measured now will hardly be valid", load)
	}
	return ""
}

// loadAverage is the machine's over the last minute; 0: not known.
func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}
