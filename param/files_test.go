package param

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDefaultFiles(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	t.Setenv("XDG_CONFIG_HOME", "")
	files := DefaultFiles()
	require.Len(t, files, 3)
	require.Equal(t, "strand.conf", files[0])
	require.True(t, strings.HasPrefix(files[1], "/home/u/"), files[1])
	require.Equal(t, "/etc/strand.conf", filepath.ToSlash(files[2]))

	t.Setenv("HOME", "")
	require.Equal(t, []string{files[0], files[2]}, DefaultFiles(), "without a home there is no file in it")
}

func TestMissingFile(t *testing.T) {
	dir := t.TempDir()
	plain := writeFile(t, "plain", "")
	for _, path := range []string{filepath.Join(dir, "nosuch.conf"), filepath.Join(plain, "strand.conf")} {
		_, err := testRegistry().Resolve(Inputs{Optional: []string{path}})
		require.NoError(t, err)

		_, err = testRegistry().Resolve(Inputs{Files: []string{path}})
		require.Len(t, mistakes(t, err), 1)
		require.ErrorContains(t, err, "file \""+path+"\": no", "the path once, and that it is not there")
	}
}

func TestUnusableFile(t *testing.T) {
	for _, test := range []struct {
		name, path string
		want       error
	}{
		{"directory", t.TempDir(), errDirectory},
		{"device", os.DevNull, errIrregular},
		{"zeros", writeFile(t, "a", "btl = tcp\n\x00\x00"), errNotText},
		{"program", writeFile(t, "b", "\x7fELF\x02\x01\x01\x00"), errNotText},
		{"UTF-16", writeFile(t, "c", "\xff\xfeb\x00t\x00l\x00"), errNotText},
		{"huge", writeFile(t, "d", strings.Repeat("#", maxFileSize+1)), errTooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, in := range []Inputs{{Files: []string{test.path}}, {Optional: []string{test.path}}} {
				_, err := testRegistry().Resolve(in)
				require.ErrorIs(t, err, test.want)
				require.Equal(t, []string{fileError(test.path, test.want).Error()}, mistakes(t, err))
			}
		})
	}
}

func TestLargestFile(t *testing.T) {
	tail := "\nbtl = self"
	path := writeFile(t, "strand.conf", strings.Repeat("#", maxFileSize-len(tail))+tail)
	v, err := testRegistry().Resolve(Inputs{Files: []string{path}})
	require.NoError(t, err)
	require.Equal(t, []string{"self"}, v.List("btl"))
}

// A user that may not look into a directory is treated as if nothing were there, unless the file
// was named.
func TestUnsearchableDirectory(t *testing.T) {
	require.True(t, absent(fileError("/root/.config/strand/strand.conf", errUnsearchable)))
	require.False(t, absent(fileError("strand.conf", os.ErrPermission)), "a file that is there and can not be read")
	require.False(t, absent(nil))
}

func TestMistakesInAFileNameTheLine(t *testing.T) {
	path := writeFile(t, "strand.conf", strings.Join([]string{
		"btl_tcp_port_min = 99999",
		"btl tcp",
		"# fine",
		"btl_tcp_link = 2",
		`reach_policy = "simple`,
	}, "\n"))
	_, err := testRegistry().Resolve(Inputs{Files: []string{path}})
	require.ElementsMatch(t, []string{
		path + `:2: "btl tcp": write name = value, or # before a comment`,
		path + `:5: "\"simple": the quote is not closed or has a bad escape: end the value with ", and write \ as \\`,
		`btl_tcp_port_min = "99999" (from ` + path + `:1): above the maximum 65535`,
		`btl_tcp_link (from ` + path + `:4): unknown; did you mean btl_tcp_links?`,
	}, mistakes(t, err))
}
