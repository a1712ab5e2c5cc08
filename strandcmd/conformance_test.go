package strandcmd

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/conformance"
)

func TestConformanceCommand(t *testing.T) {
	for _, tc := range []struct {
		line           string
		status         int
		stdout, stderr []string
	}{
		{"conformance --btl self --only attributes,late-bytes", 0,
			[]string{"CASE ", "attributes  ", " ok ", "late-bytes  ", " –  ", "delivers frames whole",
				"\nRULE ", "What a module says of itself is within the bounds", "(btl.Attr, btl.Path, btl.Module; attributes)", "self: 1 passed, 0 failed, 1 not applicable; seed "}, nil},
		{"conformance --btl self --only attributes --seed 7 -p btl_self_queue=4", 0, []string{"seed 7\n"}, nil},
		{"conformance --list", 0, []string{"peer-dies-sending", "released ", "exactly once for each frame"}, nil},
		{"conformance", 2, nil, []string{"which transport? give --btl, one of sctp, self, sm, tcp"}},
		{"conformance --btl tpc", 2, nil, []string{"--btl: there is no transport \"tpc\"; did you mean tcp? Available: sctp, self, sm, tcp, udp. Any other has to be compiled into the program"}},
		{"conformance --btl tcp --only latebytes", 2, nil, []string{"--only latebytes: there is no such case; did you mean late-bytes?"}},
		{"conformance --btl tcp -p btl_tcp_lnks=1", 2, nil, []string{"btl_tcp_lnks (from -p): unknown; did you mean btl_tcp_links?"}},
		{"conformance --btl tcp --timeout 0s", 2, nil, []string{"--timeout 0s: want a time above 0"}},
		{"conformance tcp", 2, nil, []string{`unexpected argument "tcp"`}},
		{"conformance --btl tcp --only attributes -p btl_tcp_if_include=nosuch0", 1,
			[]string{"FAILED", "rule open: Open returns modules", "in attributes: ", "nosuch0"}, []string{"tcp fails 1 of 1 cases; --seed "}},
	} {
		stdout, stderr, status := command(tc.line)
		assert.Equal(t, tc.status, status, "%s: %s", tc.line, stderr)
		for _, part := range tc.stdout {
			assert.Contains(t, stdout, part, tc.line)
		}
		for _, part := range tc.stderr {
			assert.Contains(t, stderr, part, tc.line)
		}
	}
}

func TestConformanceJSON(t *testing.T) {
	stdout, stderr, status := command("conformance --btl self --only attributes --json")
	require.Zero(t, status, stderr)
	var report struct {
		Transport string
		Cases     []jsonCase
		Rules     []jsonRule
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	assert.Equal(t, "self", report.Transport)
	require.Len(t, report.Cases, 1)
	assert.Equal(t, "passed", report.Cases[0].Status)
	assert.Equal(t, []string{"attributes", "discreet", "reach", "serial", "no-block"}, report.Cases[0].Rules)
	require.Len(t, report.Rules, 5)
	assert.Equal(t, "btl.Attr, btl.Path, btl.Module", report.Rules[0].Source)
	assert.Equal(t, "passed", report.Rules[0].Status)
	assert.Equal(t, []string{"attributes"}, report.Rules[0].Cases)
	assert.Positive(t, report.Rules[0].Seconds)
	stdout, _, status = command("conformance --list --json")
	require.Zero(t, status)
	var list struct{ Cases, Rules []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(stdout), &list))
	require.NotEmpty(t, list.Cases)
	for _, key := range []string{"case", "about", "rules"} {
		assert.Contains(t, list.Cases[0], key, "as a report calls it")
	}
	require.NotEmpty(t, list.Rules)
	for _, key := range []string{"rule", "text", "source"} {
		assert.Contains(t, list.Rules[0], key, "as a report calls it")
	}
}

// A rule that a case breaks by the way has no case that was made for it, if such did not run.
func TestConformanceRuleWithoutCases(t *testing.T) {
	rule := conformance.Rule{Source: "btl.Attr"}
	assert.Equal(t, "(btl.Attr; sizes, vectors)", origin(conformance.RuleResult{Rule: rule, Cases: []string{"sizes", "vectors"}}))
	assert.Equal(t, "(btl.Attr)", origin(conformance.RuleResult{Rule: rule}))
}

// Beside the other columns a narrow terminal has no room for sentences.
func TestConformanceOnNarrowTerminals(t *testing.T) {
	const words = "A payload of any size arrives, however it is cut into pieces."
	table := caseTable{width: 17}
	for width, want := range map[int]string{
		80: "A payload of any size arrives, however it\n" + strings.Repeat(" ", 37) + "is cut into pieces.\n",
		40: "\n  A payload of any size arrives, however\n  it is cut into pieces.\n",
	} {
		assert.Equal(t, want, table.about(words, width), "%d columns", width)
	}
}
