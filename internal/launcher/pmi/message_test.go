package pmi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	m, err := Parse("cmd=get_result rc=0  msg=success value=a=b==")
	require.NoError(t, err)
	assert.Equal(t, NewMessage("get_result", "rc", "0", "msg", "success", "value", "a=b=="), m)

	value, found := m.Value("value")
	assert.True(t, found)
	assert.Equal(t, "a=b==", value)
	_, found = m.Value("cmd")
	assert.False(t, found, "the command is no argument")
}

func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct{ line, reason string }{
		{"", "it is empty"},
		{"   ", "it is empty"},
		{"rc=0 cmd=put", "does not start with cmd="},
		{"cmd= rc=0", "does not start with cmd="},
		{"cmd=put key", "word 2 is not of the form name=value"},
		{"cmd=put =v", "word 2 is not of the form"},
		{"cmd=put\tkey=v", "byte 7 is the control character 0x09"},
		{"cmd=put key=\x00", "control character 0x00"},
		{"GET / HTTP/1.1", "word 1 is not of the form"},
	} {
		_, err := Parse(tc.line)
		assert.ErrorContains(t, err, tc.reason, "line %q", tc.line)
	}
	_, err := Parse(strings.Repeat("x", 1000))
	assert.Less(t, len(err.Error()), 500, "an error does not repeat a long line in full")
}

func TestFormatRefuses(t *testing.T) {
	for _, m := range []Message{
		{},
		NewMessage("put now"),
		NewMessage("put", "", "v"),
		NewMessage("put", "a=b", "v"),
		NewMessage("put", "key", "a b"),
		NewMessage("put", "key", "a\ncmd=abort"),
		NewMessage("put", "key", strings.Repeat("x", MaxLine)),
	} {
		_, err := m.Format()
		assert.Error(t, err, "%.40v", m)
	}
}

func TestErrorsKeepSecrets(t *testing.T) {
	_, err := Parse("cmd=put key=secret value=hunter2 \x00")
	assert.ErrorContains(t, err, "value=…")
	assert.NotContains(t, err.Error(), "hunter2")
	_, err = NewMessage("put", "value", "hunter2 ").Format()
	assert.ErrorContains(t, err, "value=")
	assert.NotContains(t, err.Error(), "hunter2")
}

func TestInt(t *testing.T) {
	m := NewMessage("set", "size", "4", "rank", "-1", "debug", "x")
	n, err := m.Int("size", 1, 4)
	require.NoError(t, err)
	assert.Equal(t, 4, n)
	for _, name := range []string{"rank", "debug", "absent"} {
		_, err = m.Int(name, 0, 100)
		assert.ErrorContains(t, err, name)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0")
	f.Add("cmd=get_result rc=-1 msg=key_x_not_found value=unknown")
	f.Add("cmd=abort exitcode=7 strand_message=")
	f.Add(" cmd=a  b=c ")
	f.Fuzz(func(t *testing.T, line string) {
		m, err := Parse(line)
		if err != nil {
			return
		}
		out, err := m.Format()
		if err != nil {
			if len(line) < MaxLine/2 {
				t.Fatalf("%q parses but does not format: %v", line, err)
			}
			return
		}
		again, err := Parse(strings.TrimSuffix(string(out), "\n"))
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}
