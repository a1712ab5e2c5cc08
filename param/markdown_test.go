package param

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarkdown(t *testing.T) {
	var page strings.Builder
	require.NoError(t, WriteMarkdown(&page, testRegistry()))
	head, tables, _ := strings.Cut(page.String(), "\n## ")
	require.Contains(t, head, "generated")

	const columns = "\n\n| name | type | default | allowed | level | meaning |\n|---|---|---|---|---|---|\n"
	require.Equal(t, "btl"+columns+
		"| `btl` | list | `tcp,self` |  | user | Transports to use. |\n"+
		"\n## btl_tcp"+columns+
		"| `btl_tcp_connect_timeout` | duration | `30s` | 1ms to 1h | user | Time to connect. |\n"+
		"| `btl_tcp_if_exclude` | list |  |  | user | Interfaces not to use. |\n"+
		"| `btl_tcp_if_include` | list |  |  | user | Interfaces to use. |\n"+
		"| `btl_tcp_links` | int, connections | `1` | at least 1 | tuner | Connections to a peer. |\n"+
		"| `btl_tcp_port_min` | int | `0` | 0 to 65535 | user | Lowest port to listen on. |\n"+
		"\n## job"+columns+
		"| `job_name` | string |  |  | user | Shown in logs. |\n"+
		"\n## pml"+columns+
		"| `pml_checksum` | bool | `false` |  | developer | Check payloads. |\n"+
		"| `pml_eager_limit` | size | `64K` | at most 1G | tuner | Largest eager message. |\n"+
		"\n## reach"+columns+
		"| `reach_policy` | enum | `weighted` | weighted, simple | user | How links are paired. |\n", tables)
}

func TestMarkdownDependsOnDeclarationsOnly(t *testing.T) {
	specs := testRegistry().Specs()
	slices.Reverse(specs)
	reversed := NewRegistry()
	reversed.Declare(specs...)

	var page, again strings.Builder
	require.NoError(t, WriteMarkdown(&page, testRegistry()))
	require.NoError(t, WriteMarkdown(&again, reversed))
	require.Equal(t, page.String(), again.String())
}

func TestMarkdownEscapes(t *testing.T) {
	r := NewRegistry()
	r.Declare(Spec{Name: "x", Kind: String, Default: "a|`b`", Help: "One | two\n<three>, C:\\."})
	var page strings.Builder
	require.NoError(t, WriteMarkdown(&page, r))
	require.Contains(t, page.String(), "| `x` | string | `` a\\|`b` `` |  | user | One \\| two &lt;three>, C:\\\\. |\n")
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestMarkdownReportsAFailedWrite(t *testing.T) {
	require.ErrorIs(t, WriteMarkdown(brokenWriter{}, testRegistry()), errBroken)
}
