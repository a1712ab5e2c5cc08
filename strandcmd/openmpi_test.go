package strandcmd

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

func TestOpenMPINames(t *testing.T) {
	for _, tc := range []struct{ theirs, ours string }{
		{"btl_base_verbose=0", "verbose=0"},
		{"btl_base_verbose=30", "verbose=1"},
		{"btl_base_verbose=100", "verbose=2"},
		{"btl_tcp_use_nagle=1", "btl_tcp_nodelay=false"},
		{"btl_tcp_use_nagle=0", "btl_tcp_nodelay=true"},
		{"btl_tcp_max_send_size=64K", "btl_tcp_max_frag=64K"},
		{"btl_tcp_port_min_v4=5000", "btl_tcp_port_min=5000"},
		{"btl_tcp_port_range_v6=10", "btl_tcp_port_range=10"},
		{"btl=vader,self,tcp", "btl=sm,self,tcp"},
		{"btl=^vader", "btl=^sm"},
		{"btl= self , vader ", "btl= self , sm "},
		{"btl=vaders,tcp", "btl=vaders,tcp"},
		{"btl_vader_eager_limit=4K", "btl_sm_eager_limit=4K"},
		{"btl_vader_max_send_size=32K", "btl_sm_max_send_size=32K"},
		{"btl_vader_fbox_size=1M", "btl_sm_fbox_size=1M"},
		{"btl_tcp_links=2", "btl_tcp_links=2"},
		{"btl_tcp_latency=100", "btl_tcp_latency=100us"},
		{"btl_tcp_latency=1ms", "btl_tcp_latency=1ms"},
		{"btl_self_latency=0", "btl_self_latency=0us"},
		{"btl_vader_latency=1", "btl_sm_latency=1us"},
		{"btl_tcp_disable_family=0", "btl_tcp_disable_family=none"},
		{"btl_tcp_disable_family=6", "btl_tcp_disable_family=6"},
		{"nosuch=a=b", "nosuch=a=b"},
	} {
		var got []param.Setting
		require.NoError(t, (&mcaFlag{&got}).Set(tc.theirs), tc.theirs)
		require.Len(t, got, 1)
		assert.Equal(t, tc.ours, got[0].Name+"="+got[0].Text)
		assert.Equal(t, param.Flag, got[0].Source.Kind)
	}
	for _, text := range []string{"btl_base_verbose=much", "btl_base_verbose=-1", "btl_tcp_use_nagle=perhaps", "btl", "=1"} {
		var got []param.Setting
		assert.Error(t, (&mcaFlag{&got}).Set(text), text)
	}
	_, stderr, status := command("info --mca btl_base_verbose=30 --mca verbose=2")
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, "--mca btl_base_verbose", "where a value comes from is said as it was written")
}

// Every name that this table, or a page for newcomers, leads to is there.
func TestNamesForNewcomersExist(t *testing.T) {
	r := param.NewRegistry()
	strand.Declare(r, btl.Default)
	declared := make(map[string]bool)
	for _, s := range r.Specs() {
		declared[s.Name] = true
	}
	open, err := os.ReadFile("../docs/COMING-FROM-OPEN-MPI.md")
	require.NoError(t, err)
	la, err := os.ReadFile("../docs/COMING-FROM-LA-MPI.md")
	require.NoError(t, err)
	for theirs, ours := range openMPI {
		assert.True(t, declared[ours.name], ours.name)
		assert.True(t, theirs == ours.name || !declared[theirs], "%s is ours as well", theirs)
		assert.Contains(t, string(open), "`"+theirs+"`")
	}
	for _, f := range laMPI {
		assert.True(t, declared[f.parameter], f.parameter)
		assert.Contains(t, string(la), "`-"+f.flag+"`")
	}
	// In tables, the column "here" has our names.
	for _, page := range []string{string(open), string(la)} {
		for line := range strings.Lines(page) {
			cells := strings.Split(line, "|")
			if len(cells) < 4 {
				continue
			}
			words := strings.FieldsFunc(cells[2], func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz_0123456789", r) })
			for _, word := range words {
				for _, prefix := range []string{"btl_", "pml_", "progress_"} {
					if strings.HasPrefix(word, prefix) {
						assert.True(t, declared[word], "%s in %s", word, line)
					}
				}
			}
		}
	}
}
