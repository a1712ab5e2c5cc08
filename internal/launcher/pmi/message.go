package pmi

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxLine bounds a line, the newline included, in both directions. The longest
// that a launcher sends carries a value of vallen_max bytes, 1024 in Hydra and
// Slurm.
const MaxLine = 16 << 10

// valueArg starts the argument, in a line, with a value that a rank publishes. The value may be
// a secret and is never repeated in an error.
const valueArg = "value="

// maxQuoted bounds how much of a bad line an error repeats.
const maxQuoted = 120

// A Message is one line: a command and its arguments in order.
type Message struct {
	Command string
	Args    []Arg
}

// An Arg is one name=value of a line. The value may contain '=' but no blank.
type Arg struct{ Name, Value string }

// NewMessage builds a message from alternating names and values.
func NewMessage(command string, namesAndValues ...string) Message {
	m := Message{Command: command}
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		m.Args = append(m.Args, Arg{namesAndValues[i], namesAndValues[i+1]})
	}
	return m
}

// Parse reads a line without its newline. The first word names the command.
func Parse(line string) (Message, error) {
	var m Message
	for i := range len(line) {
		if c := line[i]; c < ' ' || c == 0x7f {
			return m, malformed(line, fmt.Sprintf("byte %d is the control character 0x%02x", i, c))
		}
	}
	words := 0
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ' ' }) {
		words++
		name, value, found := strings.Cut(word, "=")
		if !found || name == "" {
			return Message{}, malformed(line, fmt.Sprintf("word %d is not of the form name=value", words))
		}
		if m.Command == "" {
			if name != "cmd" || value == "" {
				return Message{}, malformed(line, "it does not start with cmd=")
			}
			m.Command = value
			continue
		}
		m.Args = append(m.Args, Arg{name, value})
	}
	if m.Command == "" {
		return m, malformed(line, "it is empty")
	}
	return m, nil
}

// Format returns the line with its newline. It is an error if PMI-1 has no form for a part of
// the message, such as an empty name or a value with blanks, or if the line is too long.
func (m Message) Format() ([]byte, error) {
	if m.Command == "" || !plain(m.Command) {
		return nil, fmt.Errorf("pmi: command %s: empty, or has a blank or control character", quote(m.Command))
	}
	line := append([]byte("cmd="), m.Command...)
	for _, a := range m.Args {
		if a.Name == "" || !plain(a.Name) || strings.Contains(a.Name, "=") {
			return nil, fmt.Errorf("pmi: argument name %s: empty, or has a blank, '=' or control character", quote(a.Name))
		}
		if !plain(a.Value) {
			return nil, fmt.Errorf("pmi: cmd=%s: the %d bytes of %s= have a blank or control character", m.Command, len(a.Value), a.Name)
		}
		line = append(line, ' ')
		line = append(line, a.Name...)
		line = append(line, '=')
		line = append(line, a.Value...)
	}
	line = append(line, '\n')
	if len(line) > MaxLine {
		return nil, fmt.Errorf("pmi: cmd=%s: a line of %d bytes; at most %d are allowed", quote(m.Command), len(line), MaxLine)
	}
	return line, nil
}

// Value returns the first argument of that name.
func (m Message) Value(name string) (string, bool) {
	for _, a := range m.Args {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}

// Int returns an argument that must be a whole number between low and high.
func (m Message) Int(name string, low, high int) (int, error) {
	text, found := m.Value(name)
	if !found {
		return 0, fmt.Errorf("pmi: cmd=%s has no %s=", m.Command, name)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("pmi: cmd=%s: %s=%s: want a whole number from %d to %d", m.Command, name, quote(text), low, high)
	}
	return n, nil
}

// plain says whether a word survives the wire: no blank, no control character.
func plain(word string) bool {
	for i := range len(word) {
		if word[i] <= ' ' || word[i] == 0x7f {
			return false
		}
	}
	return true
}

// malformed shows a bad line in an error, but not a value: that may be the job's secret.
func malformed(line, reason string) error {
	if before, _, found := strings.Cut(line, valueArg); found {
		line = before + valueArg + "…"
	}
	return fmt.Errorf("pmi: %s is no PMI-1 line: %s", quote(line), reason)
}

// quote repeats text of the other side in an error: on one line, and not all of a long text.
func quote(text string) string {
	if len(text) <= maxQuoted {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("%q… (%d bytes)", text[:maxQuoted], len(text))
}
