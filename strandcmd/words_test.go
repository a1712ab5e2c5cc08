package strandcmd

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestShellWords(t *testing.T) {
	for text, want := range map[string][]string{
		"ssh": {"ssh"},
		` ssh -o  "ProxyCommand=ssh jump nc %h %p"`:        {"ssh", "-o", "ProxyCommand=ssh jump nc %h %p"},
		`kubectl exec -i {host} -- sh -c {command}`:        {"kubectl", "exec", "-i", "{host}", "--", "sh", "-c", "{command}"},
		`ssh -i /home/a\ b/key -o 'A=b "c" \d' '' "e\"\f"`: {"ssh", "-i", "/home/a b/key", "-o", `A=b "c" \d`, "", `e"\f`},
	} {
		words, err := shellWords(text)
		require.NoError(t, err)
		assert.Equal(t, want, words)
	}
	for text, want := range map[string]string{"": "want a command", " \t": "want a command", "''": "want a command", "ssh 'a": "does not end", `ssh "a`: "does not end", `ssh a\`: "backslash"} {
		_, err := shellWords(text)
		assert.ErrorContains(t, err, want, text)
	}
}

// A shell splits alike what has no other characters of its own.
func TestShellWordsOfAShell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := "x" + rapid.StringMatching(`([ab'"\\ ]|'[ab"\\ ]*'|"[ab' ]*"){0,8}`).Draw(t, "text")
		words, err := shellWords(text)
		if err != nil {
			return
		}
		out, err := exec.Command("sh", "-c", `printf '%s\n' `+text).Output()
		require.NoError(t, err, text)
		require.Equal(t, strings.Join(words, "\n")+"\n", string(out), text)
	})
}
