package pmi

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// script plays one entry a read: an error to return or a string to give, which
// takes more reads if there is no room for it.
type script []any

func (s *script) Read(p []byte) (int, error) {
	if len(*s) == 0 {
		return 0, io.EOF
	}
	step := (*s)[0]
	if text, isText := step.(string); isText {
		n := copy(p, text)
		if n < len(text) {
			(*s)[0] = text[n:]
			return n, nil
		}
		*s = (*s)[1:]
		return n, nil
	}
	*s = (*s)[1:]
	return 0, step.(error)
}

func TestLineSurvivesAFailedRead(t *testing.T) {
	r := lineReader{from: &script{"cmd=bar", os.ErrDeadlineExceeded, "rier_", os.ErrDeadlineExceeded, "out\ncmd=x", "\n"}}
	for range 2 {
		_, err := r.line()
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	}
	line, err := r.line()
	require.NoError(t, err)
	assert.Equal(t, "cmd=barrier_out", line)
	line, err = r.line()
	require.NoError(t, err)
	assert.Equal(t, "cmd=x", line)
	_, err = r.line()
	assert.Equal(t, io.EOF, err)
}

func TestLineEnds(t *testing.T) {
	r := lineReader{from: strings.NewReader("cmd=a\ncmd=b")}
	_, err := r.line()
	require.NoError(t, err)
	_, err = r.line()
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)

	r = lineReader{from: iotest.ErrReader(io.ErrClosedPipe)}
	_, err = r.line()
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}

func TestLineIsBounded(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("x", MaxLine),
		strings.Repeat("x", MaxLine) + "\n",
		strings.Repeat("x", 10*MaxLine),
	} {
		r := lineReader{from: strings.NewReader(text)}
		_, err := r.line()
		assert.ErrorIs(t, err, ErrLineTooLong)
	}
	r := lineReader{from: iotest.OneByteReader(strings.NewReader(strings.Repeat("x", MaxLine-1) + "\n"))}
	line, err := r.line()
	require.NoError(t, err)
	assert.Len(t, line, MaxLine-1)
}

func FuzzLines(f *testing.F) {
	f.Add("cmd=a\ncmd=b\n\n", 1)
	f.Add("no newline", 3)
	f.Add(strings.Repeat("x", 400)+"\n"+strings.Repeat("y", 1200)+"\n", 128) // more than there is room for
	f.Fuzz(func(t *testing.T, text string, step int) {
		var from script
		if step < 1 {
			step = 1
		}
		for rest := text; rest != ""; {
			n := min(step, len(rest), 512)
			from = append(from, rest[:n])
			rest = rest[n:]
		}
		r := lineReader{from: &from}
		var got strings.Builder
		for {
			line, err := r.line()
			if err != nil {
				if errors.Is(err, io.EOF) {
					require.Equal(t, text, got.String())
				}
				return
			}
			got.WriteString(line + "\n")
			require.True(t, strings.HasPrefix(text, got.String()))
		}
	})
}
