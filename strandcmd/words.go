package strandcmd

import (
	"errors"
	"strings"
)

// shellWords splits the value of --rsh at blanks, as a shell does: quotes and a backslash keep what is within them, or behind it.
func shellWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune // that has begun and not ended; 0: none
	begun, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`", c) {
				word.WriteByte('\\') // within these quotes a shell keeps it
			}
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			begun, quote = true, c
		case quote == 0 && strings.ContainsRune(" \t\r\n", c):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			begun = true
			word.WriteRune(c)
		}
	}
	switch {
	case quote != 0 || escaped:
		return nil, errors.New("--rsh: a quote does not end, or a backslash stands at the end")
	case begun:
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("--rsh: want a command, such as ssh")
	}
	return words, nil
}
