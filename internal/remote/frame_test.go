package remote

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kept is a part that keeps what it gets.
type kept struct {
	bytes.Buffer
	closed bool
}

func (k *kept) Close() error {
	k.closed = true
	return nil
}

func TestFramesArriveByPart(t *testing.T) {
	var wire bytes.Buffer
	s := &sender{out: &wire}
	long := strings.Repeat("x", 3*longest+1)
	n, err := output{s}.Write([]byte(long))
	require.NoError(t, err)
	assert.Equal(t, len(long), n)
	require.NoError(t, s.send(ofPMI, []byte("cmd=init\n")))
	require.NoError(t, s.send(ofPMI, nil))
	pmi, out := &kept{}, &kept{}
	require.NoError(t, deliver(bufio.NewReader(&wire), [parts]io.WriteCloser{ofPMI: pmi, ofOutput: out}))
	assert.Equal(t, "cmd=init\n", pmi.String())
	assert.True(t, pmi.closed)
	assert.Equal(t, long, out.String())
	assert.False(t, out.closed)
}

func TestFramesThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"\x03\x01\x00\x00\x00x":    "1 bytes for part 3",
		"\x01\x01\x00\x00\x00x":    "1 bytes for part 1", // which this end does not take
		"\x00\xff\xff\xff\xffx":    "4294967295 bytes",
		"\x00\x02\x00\x00\x00x":    "unexpected EOF",
		"\x00\x02":                 "unexpected EOF",
		"Last login: Thu on pts/0": "for part 76",
	} {
		err := deliver(bufio.NewReader(strings.NewReader(text)), [parts]io.WriteCloser{ofPMI: &kept{}})
		assert.ErrorContains(t, err, want, "%q", text)
	}
}
