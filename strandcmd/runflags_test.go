package strandcmd

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/param"
)

func TestForeignSpellings(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"run -n 4 prog -ni 2 --mca a b", "run -n 4 prog -ni 2 --mca a b"}, // the program's own
		{"run -np 4 prog", "run --n 4 prog"},
		{"run --np 4 prog --np 5", "run --n 4 prog --np 5"},
		{"run -np=4 prog", "run --n=4 prog"},
		{"run --np=4 prog", "run --n=4 prog"},
		{"run -host a:2,b -hostfile=h -map-by node -verbose prog -host", "run --host a:2,b --hostfile=h --map-by node --verbose prog -host"},
		{"run -pnp=4 -n4 prog", "run -pnp=4 -n4 prog"},
		{"run -disable-auto-cleanup -n 4 prog -n", "run --disable-auto-cleanup -n 4 prog -n"},
		{"run --on-failure continue -n 4 prog", "run --on-failure continue -n 4 prog"},
		{"run -ni 2 -i eth0 -n 2 prog -i", "run --ni 2 -i eth0 -n 2 prog -i"},
		{"run -tcpmaxfrag=64K -tcpeagersend 16K -tcpconretries 3 prog", "run --tcpmaxfrag=64K --tcpeagersend 16K --tcpconretries 3 prog"},
		{"run --mca btl tcp,self -mca x y -n 1 prog", "run --mca=btl=tcp,self --mca=x=y -n 1 prog"},
		{"run --tag-output -v -ni 2 prog -ni", "run --tag-output -v --ni 2 prog -ni"},
		{"run -vn 4 -ni 2 prog", "run -vn 4 --ni 2 prog"},
		{"run -n4 -ni 2 prog", "run -n4 --ni 2 prog"},
		{"run --timeout 5s --env A=-ni -- prog -ni 2", "run --timeout 5s --env A=-ni -- prog -ni 2"},
		{"run --env -ni prog -ni 2", "run --env -ni prog -ni 2"}, // the value of --env
		{"run --verbose btl=1 -n 2 prog --verbose btl=2", "run --verbose-btl=1 -n 2 prog --verbose btl=2"},
		{"run --verbose=btl=2 -n 2 prog", "run --verbose-btl=2 -n 2 prog"},
		{"run --verbose -ni 2 prog", "run --verbose --ni 2 prog"},
		{"run -n 2 --verbose ./btl=1", "run -n 2 --verbose ./btl=1"},
		{"run --verbose", "run --verbose"},
		{"run --nosuch -ni 2 prog", "run --nosuch --ni 2 prog"},
		{"run -n", "run -n"},
		{"run", "run"},
		{"", ""},
		{"version -ni", "version -ni"},
		{"__complete run -ni", "__complete run -ni"},
	} {
		got, err := foreignSpellings(newRootCommand(nil), strings.Fields(tc.in))
		require.NoError(t, err, tc.in)
		assert.Equal(t, tc.want, strings.Join(got, " "))
	}
	for _, line := range []string{"run --mca", "run --mca btl", "run -mca btl"} {
		_, err := foreignSpellings(newRootCommand(nil), strings.Fields(line))
		assert.ErrorContains(t, err, "--mca btl tcp,self")
	}
}

func TestSettingsKeepTheirSpelling(t *testing.T) {
	var got []param.Setting
	cmd := newRunCommand(nil, func(settings []param.Setting, _ []string) error {
		got = settings
		return assert.AnError // far enough
	})
	root := newRootCommand(nil)
	root.RemoveCommand(root.Commands()...)
	root.AddCommand(cmd)
	args, err := foreignSpellings(root, strings.Fields(
		"run -n 2 --btl tcp,self -p pml_lanes=4 --param x=a=b --mca btl_tcp_max_frag 1M -i eth0,eth1 -ni 2 -tcpmaxfrag 64K -tcpeagersend 16K -tcpconretries 3 --verbose btl=2 "+os.Args[0]))
	require.NoError(t, err)
	root.SetArgs(args)
	require.ErrorIs(t, root.Execute(), assert.AnError)

	flag := func(spelling, name, text string) param.Setting {
		return param.Setting{Name: name, Text: text, Source: param.Source{Kind: param.Flag, Where: spelling}}
	}
	assert.Equal(t, []param.Setting{
		flag("--btl", "btl", "tcp,self"),
		flag("-p", "pml_lanes", "4"),
		flag("-p", "x", "a=b"),
		flag("--mca", "btl_tcp_max_frag", "1M"),
		flag("-i", "btl_tcp_if_include", "eth0,eth1"),
		flag("-ni", "btl_tcp_max_interfaces", "2"),
		flag("-tcpmaxfrag", "btl_tcp_max_frag", "64K"),
		flag("-tcpeagersend", "btl_tcp_eager_limit", "16K"),
		flag("-tcpconretries", "btl_tcp_connect_retries", "3"),
		flag("--verbose btl", "verbose", "2"),
	}, got)
}

// Several programs in one job, as mpirun has them, are not started as arguments of the first.
func TestSeveralPrograms(t *testing.T) {
	for _, line := range []string{"./a : -n 3 ./b", "./a 1 : -np 3 ./b", "./a : --host b ./b", "./a 1 2 : -n3 ./b : -n 4 ./c"} {
		_, stderr, status := command("run -n 1 " + line)
		assert.Equal(t, 2, status, line)
		assert.Contains(t, stderr, "begins another program for mpirun", line)
		assert.Contains(t, stderr, "strand run … -- ./a", line)
	}
	for _, line := range []string{"-- echo : -n 3", "echo :", "echo : -y", "echo : n", "echo -n 3 :", "echo :: -n 3"} {
		_, stderr, status := command("run -n 1 " + line)
		assert.Zero(t, status, "%s: %s", line, stderr)
	}
}
