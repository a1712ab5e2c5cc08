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

		"run --bind-to ":                             "none core",
		"run --map-by n":                             "node",
		"run --mca pml_ord":                          "pml_ordering",
		"run --mca btl_vader_si":                     "btl_vader_single_copy_mechanism",
		"run --mca pml_ordering r":                   "relaxed",
		"run -mca btl tcp,s":                         "tcp,sctp tcp,self",
		"run --mca btl_vader_single_copy_mechanism ": "cma none",
		"run -np 4 --mca btl tcp,self -tcpconretries 3 --bind-to ": "none core",
		"info --mca pml_ord":               "pml_ordering=",
		"info --param btl t":               "tcp",
		"info --param all sc":              "sctp",
		"bench coll --calls allreduce,b":   "allreduce,barrier allreduce,bcast",
		"bench coll --against ":            "openmpi mpich",
		"bench pingpong --against raw-":    "raw-udp",
		"bench peers --against raw,":       "raw,openmpi raw,mpich",
		"bench peers --only sm,tcp/r":      "sm,tcp/rate",
		"conformance --only late-end,late": "late-end,late-bytes",
		"compare --metric delay_":          "delay_p90",
		"compare --congestion ":            "auto cubic reno bbr",
	} {
		found := completions(t, line)
		for _, w := range strings.Fields(want) {
			assert.Contains(t, found, w, line)
		}
		for _, w := range found {
			assert.NotContains(t, w, " ", "%s: no shell takes it for one word", line)
		}
	}
}

// completions are the words that a shell is offered at the end of a line.
func completions(t *testing.T, line string) (words []string) {
	var out, errs bytes.Buffer
	status := execute(append([]string{"__complete"}, strings.Split(line, " ")...), nil, &out, &errs)
	assert.Zero(t, status, line)
	for l := range strings.Lines(out.String()) {
		if word, _, _ := strings.Cut(strings.TrimSpace(l), "\t"); word != "" && word[0] != ':' {
			words = append(words, word)
		}
	}
	return words
}

// What the command would refuse is not offered.
func TestCompletionOfWhatIsRefused(t *testing.T) {
	for line, refused := range map[string]string{
		"bench coll --against ": "raw", "bench rate --against ": "raw-udp", "bench peers --against ": "raw-udp", "run --mca pml_ord": "pml_ordering=",
	} {
		words := completions(t, line)
		assert.NotEmpty(t, words, line)
		assert.NotContains(t, words, refused, line)
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
