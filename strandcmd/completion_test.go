package strandcmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"run --btl t":                       "tcp",
		"run --btl tcp,s":                   "tcp,sctp tcp,self",
		"run --btl ^sc":                     "^sctp",
		"run -p pml_ord":                    "pml_ordering=",
		"run -p pml_ordering=":              "pml_ordering=strict pml_ordering=relaxed",
		"run -p btl=tcp,se":                 "btl=tcp,self",
		"run --on-failure ":                 "kill continue",
		"info --level t":                    "tuner",
		"info --param pml_ord":              "pml_ordering= pml_ordering",
		"info --param pm":                   "pml",
		"bench pingpong --against raw,":     "raw,openmpi raw,mpich",
		"bench rate -p btl_tcp_reach=rou":   "btl_tcp_reach=route",
		"reach --policy ":                   "route weighted weighted13 subnet",
		"compare --workload pingpong,fa":    "pingpong,farm",
		"compare --emulation u":             "user",
		"compare --btl tcp,":                "tcp,sctp",
		"conformance --btl se":              "self",
		"net up ":                           "yaml yml",
		"completion ":                       "bash fish powershell zsh",
		"run --env A=b --btl tcp -p btl=^t": "btl=^tcp",
	} {
		var out, errs bytes.Buffer
		status := execute(append([]string{"__complete"}, strings.Split(line, " ")...), nil, &out, &errs)
		stdout := out.String()
		assert.Zero(t, status, line)
		var found []string
		for _, l := range strings.Split(strings.TrimSpace(stdout), "\n") {
			if word, _, _ := strings.Cut(l, "\t"); word != "" && word[0] != ':' {
				found = append(found, word)
			}
		}
		for _, w := range strings.Fields(want) {
			assert.Contains(t, found, w, line)
		}
	}
}

// A strand with transports of one's own may have another name, and shells complete by that.
func TestCompletionOfAnotherName(t *testing.T) {
	cmd := strandProcess(t, "completion", "bash")
	cmd.Args[0] = "/opt/mine"
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "-F __start_mine mine\n")
	assert.NotContains(t, string(out), "__start_strand")
}
