package param

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// testRegistry declares one parameter of each kind, and a few more.
func testRegistry() *Registry {
	r := NewRegistry()
	r.Declare(
		Spec{Name: "btl", Kind: List, Default: "tcp,self", Help: "Transports to use."},
		Spec{Name: "btl_tcp_if_include", Kind: List, Help: "Interfaces to use."},
		Spec{Name: "btl_tcp_if_exclude", Kind: List, Help: "Interfaces not to use."},
		Spec{Name: "btl_tcp_port_min", Kind: Int, Default: "0", Min: "0", Max: "65535", Help: "Lowest port to listen on."},
		Spec{Name: "btl_tcp_links", Kind: Int, Default: "1", Min: "1", Unit: "connections", Help: "Connections to a peer.", Level: Tuner},
		Spec{Name: "btl_tcp_connect_timeout", Kind: Duration, Default: "30s", Min: "1ms", Max: "1h", Help: "Time to connect."},
		Spec{Name: "pml_eager_limit", Kind: Size, Default: "64K", Max: "1G", Help: "Largest eager message.", Level: Tuner},
		Spec{Name: "pml_checksum", Kind: Bool, Default: "false", Help: "Check payloads.", Level: Developer},
		Spec{Name: "reach_policy", Kind: Enum, Default: "weighted", Choices: []string{"weighted", "simple"}, Help: "How links are paired."},
		Spec{Name: "job_name", Kind: String, Help: "Shown in logs."},
	)
	return r
}

// writeFile makes a file of the test's own and returns its path.
func writeFile(t testing.TB, name, contents string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(contents), 0o600))
	return path
}

// mistakes splits what Resolve joined.
func mistakes(t testing.TB, err error) []string {
	t.Helper()
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok, "%v", err)
	var texts []string
	for _, e := range joined.Unwrap() {
		texts = append(texts, e.Error())
	}
	return texts
}

func flag(name, text string) Setting {
	return Setting{Name: name, Text: text, Source: Source{Flag, "-p"}}
}

func option(name, text string) Setting {
	return Setting{Name: name, Text: text, Source: Source{Option, "strand.Param"}}
}
