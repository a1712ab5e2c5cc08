package whowaits

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// mostStack bounds what is looked at of the goroutines' stacks, in bytes.
const mostStack = 16 << 20

// Stacks returns the stacks of all goroutines. The program stands still meanwhile.
func Stacks() []byte {
	for size := 256 << 10; ; size *= 4 {
		b := make([]byte, size)
		if n := runtime.Stack(b, true); n < size || size >= mostStack {
			return b[:n]
		}
	}
}

const (
	module = "github.com/strandmp/strand"
	// wait is where all calls wait. Its arguments tell for which world and for what.
	wait = module + "/internal/engine.(*Engine).wait("
)

// own are the packages whose frames are no lines of the program.
var own = []string{module + ".", module + "/pml", module + "/coll.", module + "/internal/engine."}

// Calls finds the goroutines that wait in a call of Strand, by their stacks. It leaves out those
// of other engines than the one at the given address.
func Calls(stacks []byte, engine uintptr) []Call {
	var all []Call
	for stack := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if c := callOf(string(stack), uint64(engine)); c != nil {
			all = append(all, *c)
		}
	}
	return all
}

// mostElsewhere is how many goroutines [Elsewhere] returns.
const mostElsewhere = 10

// Elsewhere finds goroutines of the program that are in no call of Strand, and that may go on by themselves: they compute, sleep, are
// in a call of the system, or wait at a channel, which may be a timer's. What they will do is not known, and may be what others wait for.
// Those at channels come last: most of them wait for another goroutine. The names are what they do, as the stacks say.
func Elsewhere(stacks []byte) (all []Call) {
	for _, states := range []*regexp.Regexp{busy(), atChannel()} {
		for stack := range bytes.SplitSeq(stacks, []byte("\n\n")) {
			if c := elsewhere(string(stack), states); c != nil && len(all) < mostElsewhere {
				all = append(all, *c)
			}
		}
	}
	return all
}

// elsewhere reads one stack, if its goroutine is in one of the states.
func elsewhere(stack string, states *regexp.Regexp) *Call {
	m := states.FindStringSubmatch(stack)
	if m == nil || strings.Contains(stack, "\n"+wait) {
		return nil
	}
	lines := strings.Split(stack, "\n")
	for i := 1; i+1 < len(lines) && !strings.HasPrefix(lines[i], "created by "); i += 2 {
		if function := lines[i]; !strings.HasPrefix(function, module) && !isOwn(function, lines[i+1]) && !isStandard(function) {
			return &Call{Name: m[1], At: placeOf(lines[i+1], function)}
		}
	}
	return nil
}

// isStandard reports whether a function is of Go's own library, whose packages have no dot in the first part of their paths.
func isStandard(function string) bool {
	first, _, deep := strings.Cut(function[:argumentsOf(function)], "/")
	return !strings.HasPrefix(function, "main.") && (!deep || !strings.Contains(first, "."))
}

// These are compiled when they are needed. Every program has this package, and hardly any run asks for stacks.
var (
	busy      = compiled(`^goroutine \d+ [^\[]*\[(running|runnable|sleep|syscall|IO wait)[,\]]`)
	atChannel = compiled(`^goroutine \d+ [^\[]*\[(chan receive|select)[,\]]`) // but for those that wait for ever: chan receive (nil chan)
	minutes   = compiled(`^goroutine \d+ [^\[]*\[[^\]]*?, (\d+ minutes)`)
	address   = compiled(`0x[0-9a-f]+`)
)

func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// callOf reads one stack, from the innermost frame on.
func callOf(stack string, engine uint64) *Call {
	lines := strings.Split(stack, "\n")
	start := 0
	for start < len(lines) && !strings.HasPrefix(lines[start], wait) {
		start++
	}
	if start == len(lines) {
		return nil
	}
	c := &Call{}
	// The engine, the context (two words), the condition (two words).
	words := address().FindAllString(lines[start], 5)
	if len(words) == 5 {
		if parse(words[0]) != engine {
			return nil
		}
		c.Condition = parse(words[4])
	}
	if m := minutes().FindStringSubmatch(lines[0]); m != nil {
		c.Since = m[1]
	}
	for i := start; i+1 < len(lines); i += 2 {
		function, made := strings.CutPrefix(lines[i], "created by ")
		switch {
		case made: // a goroutine of Strand's own
			c.Name, c.Own = ownCall(function)
			return c
		case strings.HasPrefix(function, module+".Run("): // what it calls by itself: its function's calls come before
			c.Name += " in Run"
		case strings.HasPrefix(function, module+"."):
			c.Name = nameOf(function)
		case !isOwn(function, lines[i+1]):
			c.At = placeOf(lines[i+1], function)
			return c
		}
	}
	return c
}

func parse(word string) uint64 {
	n, _ := strconv.ParseUint(word[2:], 16, 64) // beyond 64 bits it is no address
	return n
}

// isOwn reports whether a frame is none of the program's. A function of Strand's that is compiled into one of the program has a name like
// main.work.(*Comm).Barrier.1, so the file says too whose it is.
func isOwn(function, line string) bool {
	for _, p := range own {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	return strings.HasPrefix(function, "sync.") || strings.HasPrefix(function, "runtime.") || isOwnFile(line)
}

// root is the folder of Strand's sources, as the compiler names it in stacks.
var root = func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(file, "internal/whowaits/stacks.go")
}()

// isOwnFile reports whether the line of a frame is in one of the files of the packages in own.
func isOwnFile(line string) bool {
	file, is := strings.CutPrefix(strings.TrimSpace(line), root)
	if !is || strings.Contains(file, "_test.go:") {
		return false
	}
	folder := filepath.Dir(file)
	return slices.Contains([]string{".", "coll", "pml", "internal/engine"}, folder) || strings.HasPrefix(folder, "pml/")
}

// nameOf makes "Comm.Recv" of "github.com/strandmp/strand.(*Comm).Recv(0x…)".
func nameOf(function string) string {
	name := strings.TrimPrefix(function, module+".")
	name = strings.NewReplacer("(*", "", ")", "").Replace(name[:argumentsOf(name)])
	return strings.TrimSuffix(name, "[...]")
}

// ownCall says for which call there is a goroutine of Strand's own, by who has made it, and whether that call goes on by itself: one of
// the public interface waits for it. Other functions mean nothing to the program.
func ownCall(maker string) (call string, alone bool) {
	maker, _, _ = strings.Cut(maker, " in goroutine ")
	if name, is := strings.CutPrefix(maker, module+".(*Comm)."); is && name != "" && unicode.IsUpper(rune(name[0])) {
		return "Comm." + name, false
	}
	return "a call that goes on by itself", true
}

// argumentsOf returns where the arguments of a frame begin, or its length.
func argumentsOf(function string) int {
	if i := strings.LastIndexByte(function, '('); i > 0 && !strings.HasPrefix(function[i:], "(*") {
		return i
	}
	return len(function)
}

// placeOf makes "main.go:34 (main.work)" of a line and its function.
func placeOf(line, function string) string {
	line, _, _ = strings.Cut(strings.TrimSpace(line), " +0x")
	function = function[:argumentsOf(function)]
	return fmt.Sprintf("%s (%s)", filepath.Base(line), function[strings.LastIndexByte(function, '/')+1:])
}
