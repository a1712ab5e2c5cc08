package param

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// FlagsVariable carries the launcher's flags to the processes that it starts.
const FlagsVariable = ReservedEnv + "FLAGS"

// FlagsEnv returns the entry of an environment ("name=value") with which a launcher hands its
// own flags to a process that it starts. In that process Resolve takes them for flags again,
// under the names that they had on the command line. So they win over an option of the program,
// which a plain STRAND_ variable does not.
func FlagsEnv(flags []Setting) string {
	passed := make([]passedFlag, len(flags))
	for i, s := range flags {
		passed[i] = passedFlag{Name: s.Name, Text: s.Text, Where: s.Source.Where}
		if !utf8.ValidString(s.Text) {
			passed[i].Bytes = []byte(s.Text)
		}
	}
	text, err := json.Marshal(passed)
	if err != nil {
		panic(fmt.Sprintf("param: strings that JSON can not hold: %v", err))
	}
	return FlagsVariable + "=" + string(text)
}

// passedFlag is a flag on its way from a launcher.
type passedFlag struct {
	Name, Text, Where string
	// Bytes are those of a text that is no UTF-8, of which JSON would make another text.
	Bytes []byte `json:",omitempty"`
}

// launcherFlags picks the launcher's flags out of an environment.
func launcherFlags(environ []string) ([]Setting, error) {
	var settings []Setting
	for _, entry := range environ {
		text, ok := strings.CutPrefix(entry, FlagsVariable+"=")
		if !ok {
			continue
		}
		var passed []passedFlag
		if err := json.Unmarshal([]byte(text), &passed); err != nil {
			return nil, fmt.Errorf("%s = %s (from the environment): not what strand run writes, unset it: %w", FlagsVariable, quote(text), err)
		}
		for _, flag := range passed {
			if flag.Bytes != nil {
				flag.Text = string(flag.Bytes)
			}
			settings = append(settings, Setting{flag.Name, flag.Text, Source{Flag, flag.Where}})
		}
	}
	return settings, nil
}
