package strandcmd

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/param"
)

func TestInfo(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("STRAND_BTL_TCP_SNDBUF", "1M")
	for _, tc := range []struct {
		line   string
		has    []string
		hasNot []string
	}{
		{"info", []string{"strand (devel)", "COMPONENT", "ordered, reliable, confirms, unbreakable", "Parameters that were set; ", "btl_tcp_sndbuf  = 1M"},
			[]string{"btl_tcp_if_include", "btl_tcp_rcvbuf", "higher levels"}},
		{"info --level user", []string{"COMPONENT", "btl_tcp_if_include", "more parameters of higher levels"}, []string{"btl_tcp_rcvbuf"}},
		{"info --btl self", []string{"not selected: btl=self (from --btl)", "= self"}, nil},
		{"info -p pml_failover=none", []string{"FAILOVER", "  no  ", "pml_failover", "= none"}, []string{"stands by  "}},
		{"info -p pml_failover=tcp", []string{"stands by  ", "  no  "}, nil},
		{"info --btl tcp,sctp -p btl_sctp_exclusivity=4711", []string{"  4711  "}, nil},
		{"info --btl tcp,sctp -p btl_tcp_encrypt=true", []string{"ordered, reliable, encrypted", "not available: it sends in the clear, and btl_tcp_encrypt=true"}, nil},
		{"info --btl ^self", []string{"not selected: btl=^self (from --btl)"}, nil},
		{"info --param btl tcp", []string{"btl_tcp_port_min"}, []string{"COMPONENT", "\n  pml_", "btl_self"}},
		{"info --param btl tcp --level tuner", []string{"btl_tcp_sndbuf", "= 1M", "(STRAND_BTL_TCP_SNDBUF)", "size, 0 to 1G"}, []string{"higher levels"}},
		{"info --param btl --level developer", []string{"btl_tcp_sndbuf", "btl_self_queue"}, []string{"\n  pml_"}},
		{"info --param btl all --level developer", []string{"btl_tcp_sndbuf", "btl_self_queue"}, []string{"\n  pml_"}},
		{"info --param pml", []string{"pml_ordering", "enum, strict, relaxed"}, []string{"btl"}},
		{"info --param all --level developer", []string{"progress_tick", "pml_lanes", "btl_self_queue"}, []string{"COMPONENT", "higher levels"}},
		{"info --param all self --level tuner", []string{"btl_self_eager_limit"}, []string{"tcp"}},
		{"info --param progress_tick", []string{"progress_tick", "developer", "while the program makes"}, nil},
		{"info --param btl_tcp_sndbuf -p btl_tcp_sndbuf=2M", []string{"= 2M", "(-p)"}, nil},
		{"info --param btl_tcp_sndbuf --param btl_tcp_sndbuf=2M", []string{"= 2M", "(-p)"}, nil},
	} {
		stdout, stderr, status := command(tc.line)
		assert.Zero(t, status, "%s: %s", tc.line, stderr)
		for _, part := range tc.has {
			assert.Contains(t, stdout, part, tc.line)
		}
		for _, part := range tc.hasNot {
			assert.NotContains(t, stdout, part, tc.line)
		}
	}
}

// Without settings the command takes a dozen lines.
func TestInfoIsBrief(t *testing.T) {
	t.Chdir(t.TempDir())
	stdout, stderr, status := command("info")
	assert.Zero(t, status, stderr)
	assert.LessOrEqual(t, strings.Count(stdout, "\n"), 14, stdout)
	assert.Contains(t, stdout, "have their defaults; --level user")
	assert.Contains(t, stdout, "--param all --level developer shows each")
}

func TestInfoMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tc := range []struct {
		line   string
		status int
		want   string
	}{
		{"info tcp", 2, `unexpected argument "tcp"`},
		{"info --param btl tcp self", 2, `unexpected argument "self"`},
		{"info -p pml_failover=tpc", 2, `pml_failover = "tpc" (from -p): there is no transport "tpc"; did you mean tcp?`},
		{"info --level expert", 2, "want user, tuner or developer"},
		{"info --param bttl", 2, "--param bttl: no such parameters; did you mean btl? Groups: all, btl, btl sctp, btl self, btl sm, btl tcp, btl udp, coll, pml"},
		{"info --param btl nosuchtransport", 2, "--param btl nosuchtransport: no such parameters. Groups: all"},
		{"info -p btl_tcp_if_inclde=lo", 2, "did you mean btl_tcp_if_include?"},
		{"info --btl nosuch", 2, `there is no transport "nosuch". Available: sctp, self, sm, tcp, udp. Any other has to be compiled into the program, by an import (docs/WRITING-A-BTL.md, "In programs, and in strand")`},
		{"info --btl ^", 2, "^ excludes nothing"},
		{"info -p btl_tcp_if_include=nosuch0", 2, "nosuch0"},
		{"info -p btl_tcp_port_min=70000", 2, "above the maximum 65535"},
	} {
		_, stderr, status := command(tc.line)
		assert.Equal(t, tc.status, status, "%s: %s", tc.line, stderr)
		assert.Contains(t, stderr, tc.want, tc.line)
	}
}

// Programs that go through a list find one, be it empty.
func TestListsInJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	stdout, stderr, status := command("info --json --param btl sm")
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, `"parameters": []`, "all are of higher levels")
	require.NoError(t, os.WriteFile("net.yaml", []byte("hosts: [a]"), 0o600))
	stdout, stderr, status = command("net show --json net.yaml")
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, `"ways": []`)
}

func TestInfoJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	stdout, stderr, status := command("info --json --btl ^self -p btl_tcp_sndbuf=2M --level developer")
	require.Zero(t, status, stderr)
	var info information
	require.NoError(t, json.Unmarshal([]byte(stdout), &info))
	states := make(map[string]string)
	for _, c := range info.Components {
		states[c.Name] = c.State
	}
	assert.Equal(t, notSelected, states["self"])
	assert.Equal(t, available, states["tcp"])
	assert.Zero(t, info.Hidden)
	for _, p := range info.Parameters {
		if p.Name == "btl_tcp_sndbuf" {
			assert.Equal(t, parameterInfo{Name: "btl_tcp_sndbuf", Value: "2M", Source: "flag", Where: "-p", Default: "0",
				Type: "size", Allowed: "0 to 1G", Level: "tuner", Environment: "STRAND_BTL_TCP_SNDBUF", Help: p.Help}, p)
			return
		}
	}
	t.Error("btl_tcp_sndbuf is missing")
}

// absent is a component that can not serve here.
type absent struct{}

func (absent) Name() string            { return "absent" }
func (absent) Declare(*param.Registry) {}
func (absent) Open(btl.Host) ([]btl.Module, error) {
	return nil, &btl.UnavailableError{Component: "absent", Reason: "no such kernel", Remedy: "build one"}
}

func TestInfoOfWhatIsNotAvailable(t *testing.T) {
	leak.Check(t)
	registry := new(btl.Registry)
	registry.Register(absent{})
	params := param.NewRegistry()
	strand.Declare(params, registry)
	values, err := params.Resolve(param.Inputs{})
	require.NoError(t, err)
	infos, err := components(values, registry)
	require.NoError(t, err)
	assert.Equal(t, []componentInfo{{Name: "absent", State: unavailable, Reason: "no such kernel (build one)"}}, infos)
	lines := (&information{Components: infos}).componentLines()
	assert.Equal(t, "absent     not available: no such kernel (build one)", strings.TrimSpace(lines[1]))
}

// A row that ends early does not part what is below it from the columns' names.
func TestAlign(t *testing.T) {
	assert.Equal(t, []string{
		"NAME  MODULE  LANES",
		"a     not there: why",
		"b/c   –       10",
	}, align([][]string{{"NAME", "MODULE", "LANES"}, {"a", "not there: why"}, {"b/c", "–", "10"}}))
	assert.Empty(t, align(nil))
}

func TestWrap(t *testing.T) {
	assert.Equal(t, "  one two\n  three\n", wrap("one  two three", "  ", 10))
	assert.Equal(t, "  averyverylongword\n  x\n", wrap("averyverylongword x", "  ", 10))
}
