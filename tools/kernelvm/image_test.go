package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An entry of a cpio archive, read back.
type cpioEntry struct {
	mode, major, minor int64
	content            string
}

// readCPIO reads an archive as the format's description has it.
func readCPIO(t *testing.T, file string) (names []string, entries map[string]cpioEntry) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	r := bytes.NewBuffer(text)
	take := func(n int64) string {
		b := r.Next(int(n))
		require.Len(t, b, int(n))
		return string(b)
	}
	align := func() { r.Next((4 - (len(text)-r.Len())%4) % 4) }
	entries = make(map[string]cpioEntry)
	for {
		require.Equal(t, "070701", take(6))
		var field [13]int64
		for i := range field {
			field[i], err = strconv.ParseInt(take(8), 16, 64)
			require.NoError(t, err)
		}
		name := take(field[11])
		align()
		content := take(field[6])
		align()
		name = name[:len(name)-1]
		if name == "TRAILER!!!" {
			return names, entries
		}
		names = append(names, name)
		entries[name] = cpioEntry{field[1], field[9], field[10], content}
	}
}

func TestArchive(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	require.NoError(t, os.WriteFile(source, []byte("12345"), 0o600))
	a, err := createArchive(filepath.Join(dir, "archive"))
	require.NoError(t, err)
	a.device("dev/null", 1, 3)
	a.copy("a/b/c", source)
	a.copy("a/b/c", source)
	a.data("a/d", []byte("7"))
	require.NoError(t, a.close())

	names, entries := readCPIO(t, filepath.Join(dir, "archive"))
	assert.Equal(t, []string{"dev", "dev/null", "a", "a/b", "a/b/c", "a/d"}, names, "folders come before what is in them, nothing twice")
	assert.Equal(t, cpioEntry{0o020600, 1, 3, ""}, entries["dev/null"])
	assert.Equal(t, cpioEntry{0o040755, 0, 0, ""}, entries["a/b"])
	assert.Equal(t, cpioEntry{0o100755, 0, 0, "12345"}, entries["a/b/c"])
	assert.Equal(t, cpioEntry{0o100755, 0, 0, "7"}, entries["a/d"])
}

func TestArchiveKeepsItsFirstError(t *testing.T) {
	a, err := createArchive(filepath.Join(t.TempDir(), "archive"))
	require.NoError(t, err)
	a.copy("x", "/no/such/file")
	a.data("y", nil)
	assert.ErrorContains(t, a.close(), "/no/such/file")
}

func TestLoadOrder(t *testing.T) {
	facts := map[string]map[string]string{
		"sctp.ko":   {"depends": "libcrc32c,udp-tunnel"},
		"crc.ko":    {"softdep": "pre: hash gone post: later"},
		"tunnel.ko": {}, "hash.ko": {}, "later.ko": {}, "needy.ko": {"depends": "absent"},
	}
	files := map[string]string{"sctp": "sctp.ko", "libcrc32c": "crc.ko", "udp_tunnel": "tunnel.ko", "hash": "hash.ko", "later": "later.ko", "needy": "needy.ko"}
	order := func(names ...string) ([]string, error) {
		return loadOrder(names, files, map[string]bool{"veth": true}, func(f string) (map[string]string, error) { return facts[f], nil })
	}
	got, err := order("sctp", "veth", "hash", "sctp")
	require.NoError(t, err)
	assert.Equal(t, []string{"hash", "libcrc32c", "udp_tunnel", "sctp"}, got)

	_, err = order("nothing")
	assert.ErrorContains(t, err, "kernel module nothing, asked for by -modules: this kernel does not have it")
	_, err = order("needy")
	assert.ErrorContains(t, err, "kernel module absent, needed by needy")
}

func TestKernelPackage(t *testing.T) {
	name, err := dependency("linux-image-cloud-amd64\n  Depends: linux-image-6.1.0-56-cloud-amd64\n  Recommends: x\n")
	require.NoError(t, err)
	assert.Equal(t, "linux-image-6.1.0-56-cloud-amd64", name)
	_, err = dependency("linux-image-cloud-amd64\n")
	assert.ErrorContains(t, err, "apt-get update")
}

func TestFailedCommandSaysWhatItSaid(t *testing.T) {
	_, err := command(context.Background(), "", "go", "no-such-command")
	assert.ErrorContains(t, err, "go no-such-command: exit status 2: go no-such-command: unknown command")
}

// The test binary itself stands for a module that has no section .modinfo.
func TestModuleInfo(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	_, err = moduleInfo(self)
	assert.Error(t, err)

	file := filepath.Join(t.TempDir(), "m.ko")
	require.NoError(t, os.WriteFile(file, elfWith(".modinfo", "depends=a,b\x00softdep=pre: c\x00license=GPL\x00"), 0o600))
	facts, err := moduleInfo(file)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"depends": "a,b", "softdep": "pre: c", "license": "GPL"}, facts)
}

// elfWith makes the least ELF file that has a section of that content.
func elfWith(section, content string) []byte {
	const head, entry = 64, 64
	names := "\x00" + section + "\x00.shstrtab\x00"
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
				panic(fmt.Sprint(err))
			}
		}
	}
	contentAt := uint64(head)
	namesAt := contentAt + uint64(len(content))
	tableAt := namesAt + uint64(len(names))
	put([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"), uint16(1), uint16(62), uint32(1),
		uint64(0), uint64(0), tableAt, uint32(0), uint16(head), uint16(0), uint16(0), uint16(entry), uint16(3), uint16(2))
	b.WriteString(content + names)
	header := func(name, kind uint32, at, size uint64) {
		put(name, kind, uint64(0), uint64(0), at, size, uint32(0), uint32(0), uint64(1), uint64(0))
	}
	header(0, 0, 0, 0)
	header(1, 1, contentAt, uint64(len(content)))
	header(uint32(len(section)+2), 3, namesAt, uint64(len(names)))
	return b.Bytes()
}
