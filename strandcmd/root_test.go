package strandcmd

import (
	"bytes"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// command runs a command line and returns what it printed and its status.
func command(line string) (stdout, stderr string, status int) {
	var out, err bytes.Buffer
	status = execute(strings.Fields(line), nil, &out, &err)
	return out.String(), err.String(), status
}

func TestCommandLines(t *testing.T) {
	for _, tc := range []struct {
		line           string
		status         int
		stdout, stderr string // parts
	}{
		{"", 0, "strand run -n 4 ./program", ""},
		{"--help", 0, "Available Commands", ""},
		{"run --help", 0, "-tcpmaxfrag 64K     btl_tcp_max_frag", ""},
		{"version", 0, "strand ", ""},
		{"--version", 0, "strand ", ""},
		{"bench pingpong --sizes=", 2, "", "strand bench pingpong: --sizes: the value is empty; see strand bench pingpong --help"},
		{"bench pingpong --against=", 2, "", "--against: the value is empty"},
		{"conformance --btl tcp --list --only=", 2, "", "--only: the value is empty"},
		{"conformance --btl tcp --list --only damage,", 2, "", "--only damage,: a name between its commas is empty"},
		{"run-elsewhere --carried /nonexistent", 1, "", "--carried /nonexistent: want the folder that this program was brought in, which is removed in the end"},
		{"completion bash", 0, "__start_strand", ""},
		{"rnu", 2, "", `strand: unknown command "rnu"; did you mean run?; see strand --help`},
		{"rnu -n 2 x", 2, "", `strand: unknown command "rnu"; did you mean run?; see strand --help`},
		{"infoo --json", 2, "", `unknown command "infoo"; did you mean info?`},
		{"net exce -n a", 2, "", `strand net: unknown command "exce"; did you mean exec?; see strand net --help`},
		{"bench pingpnog --sizes 8", 2, "", `did you mean pingpong?`},
		{"help nosuch", 2, "", `unknown command "nosuch"`},
		{"help run", 0, "-tcpmaxfrag 64K", ""},
		{"help run fast", 2, "", `strand run has no commands of its own: unexpected argument "fast"`},
		{"help bench pingpong", 0, "--sizes", ""},
		{"completion tcsh", 2, "", "want one of bash, fish"},
		{"completion", 0, "Available Commands", ""},
		{"nosuch", 2, "", "want one of bench, compare, completion, conformance, info, "},
		{"version now", 2, "", `strand version: unexpected argument "now"`},
		{"run -n 2 --timeout 5 true", 2, "", "strand run: --timeout 5: want a time with its unit (ms, s, m, h), such as --timeout 90s; see"},
		{"run -n 2 --grace x true", 2, "", "--grace x: want a time with its unit"},
		{"run -n 99999999999999999999 true", 2, "", "-n 99999999999999999999: want a whole number, such as -n 4"},
		{"run --tag-output=x -n 2 true", 2, "", "--tag-output x: want true or false"},
		{"run --trace-buffer 1M -n 2 true", 2, "", "--trace-buffer means something with --trace only"},
		{"run --trace t.json --trace-buffer 1 -n 2 true", 2, "", "--trace-buffer 1: want 64K to 1G"},
		{"run --trace t.json --trace-buffer 0 -n 2 true", 2, "", "--trace-buffer 0: want 64K or more"},
		{"run --trace /nosuch/t.json -n 2 true", 2, "", "--trace: open /nosuch/t.json: no such file"},
		{"bench pingpong --iters x", 2, "", "--iters x: want a whole number, such as --iters 4"},
		{"run", 2, "", "strand run: no program given"},
		{"run -n 2", 2, "", "strand run: no program given"},
		{"run true", 2, "", "strand run: how many ranks? give -n"},
		{"run -n 0x4 true", 2, "", "-n 0x4: want a whole number"},
		{"run -n 1_0 true", 2, "", "-n 1_0: want a whole number"},
		{"run -n 010000 true", 2, "", "-n 10000: want 1 to 4096"},
		{"compare --ranks 0100000 --loopback", 2, "", "100000"},
		{"compare --seed 0x1", 2, "", "--seed 0x1: want a whole number of 0 or more"},
		{"run -n 2 --verbose tcp=1 true", 2, "", "--verbose tcp=1: want --verbose alone, or --verbose btl=1"},
		{"run -n 2 -v btl=1 true", 2, "", "or --verbose btl=1 for what transports do"},
		{"run -n 2 --verbose=tcp=1 true", 2, "", "for what transports do: --verbose btl=1"},
		{"run -n many true", 2, "", "strand run: -n many: want a whole number, such as -n 4; see strand run --help"},
		{"run -n 0 true", 2, "", "strand run: -n 0: want 1 to 4096 ranks"},
		{"compare --los 1", 2, "", "strand compare: unknown flag: --los; did you mean --loss?; see strand compare --help"},
		{"info --parm=btl", 2, "", "did you mean --param?"},
		{"run -n 1 --nosuch true", 2, "", "unknown flag: --nosuch; see strand run --help"},
		{"run -n 1 --oversubscribe true", 2, "", "strand run: unknown flag: --oversubscribe: a host may have more ranks than processors, leave it out; see strand run --help"},
		{"run -np 2 -x A=b true", 2, "", "in -x: give --env; see"},
		{"run -oversubscribe -np 2 true", 2, "", ": --oversubscribe: a host may have more ranks"},
		{"run -ppn 2 true", 2, "", ": --ppn: say how many with each host"},
		{"run -H a -np 2 true", 2, "", "in -H: give --host; see"},
		{"run -c 2 true", 2, "", "in -c: give -n; see"},
		{"run -f hosts -n 2 true", 2, "", "in -f: give --hostfile; see"},
		{"run -prepend-rank -n 2 true", 2, "", ": --prepend-rank: give --tag-output; see"},
		{"run -np 2 --mca plm_rsh_agent rsh true", 2, "", "--mca plm_rsh_agent=rsh: give --rsh; see"},
		{"run -np 2 --mca oob_tcp_if_include lo true", 2, "", "the launcher opens no port, leave it out; see"},
		{"run -np 2 --mca orte_base_help_aggregate 0 true", 2, "", "the launcher has flags alone, leave it out; see"},
		{"bench rate --oversubscribe", 2, "", "unknown flag: --oversubscribe; see strand bench rate --help"},
		{"run -np 2 --mca pml ob1 true", 2, "", "strand run: --mca pml=ob1: there is one message layer, leave it out; see strand run --help"},
		{"run -np 2 --mca coll_tuned_allreduce_algorithm 4 true", 2, "", "give coll_allreduce and its kin"},
		{"run -n 1 -p btl true", 2, "", "want name=value, such as -p btl_tcp_if_include=eth0"},
		{"run -n 1 no-such-program", 127, "", `strand run: program "no-such-program": not found in PATH`},
		{"run -n 2 echo -n 3 --btl x", 0, "3 --btl x", ""},
		{"run -n 1 -- echo hello", 0, "hello\n", ""},
		{"run -n 2 --tag-output echo hello", 0, "[1] hello\n", ""},
		{"run -n 1 --on-failure=ignore true", 2, "", "--on-failure ignore: want kill or continue, such as --on-failure=continue"},
		{"run -n 2 --on-failure continue echo hello", 0, "hello\nhello\n", ""},
		{"run -n 2 false", 1, "", "exited with status 1"},
	} {
		stdout, stderr, status := command(tc.line)
		assert.Equal(t, tc.status, status, "%s: %s", tc.line, stderr)
		assert.Contains(t, stdout, tc.stdout, tc.line)
		assert.Contains(t, stderr, tc.stderr, tc.line)
		if tc.status == 0 {
			assert.Empty(t, stderr, tc.line)
		}
	}
}

func TestEveryCommandHasAnExample(t *testing.T) {
	for _, c := range newRootCommand(nil).Commands() {
		assert.NotEmpty(t, c.Example, c.Name())
		assert.NotEmpty(t, c.Short, c.Name())
	}
}

func TestVersionLine(t *testing.T) {
	line := versionLine(&debug.BuildInfo{
		Main:     debug.Module{Version: "v1.2.3"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}},
	})
	assert.Regexp(t, `^strand v1\.2\.3 \(0123456789ab, modified\) go\S+ \w+/\w+$`, line)
	assert.Regexp(t, `^strand \(devel\) go\S+ \w+/\w+$`, versionLine(nil))

	// Built by another module.
	line = versionLine(&debug.BuildInfo{
		Main: debug.Module{Path: "example.org/yours", Version: "v0.3.0"},
		Deps: []*debug.Module{{Path: "golang.org/x/sys", Version: "v0.1.0"}, {Path: ownModule, Version: "v1.2.3"}},
	})
	assert.Regexp(t, `^strand v1\.2\.3 in example\.org/yours v0\.3\.0 go\S+ \w+/\w+$`, line)
	line = versionLine(&debug.BuildInfo{
		Main: debug.Module{Path: "example.org/yours"},
		Deps: []*debug.Module{{Path: ownModule, Version: "v0.0.0", Replace: &debug.Module{Path: "../.."}}},
	})
	assert.Regexp(t, `^strand \(devel\) in example\.org/yours \(devel\) go`, line)
}
