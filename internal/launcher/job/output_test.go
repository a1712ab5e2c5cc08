package job

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/transcript"
)

func TestLinesStayWhole(t *testing.T) {
	const ranks = 6
	for _, tag := range []bool{false, true} {
		c, out := playing(t, "lines", ranks)
		c.TagOutput = tag
		require.NoError(t, Run(context.Background(), c))
		var next [ranks]int
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		require.Len(t, lines, ranks*2000)
		for _, line := range lines {
			var tagged, rank, i int
			if tag {
				prefix, rest, found := strings.Cut(line, " ")
				require.True(t, found, line)
				_, err := fmt.Sscanf(prefix, "[%d]", &tagged)
				require.NoError(t, err, line)
				line = rest
			}
			_, err := fmt.Sscanf(line, "<%d line %d", &rank, &i)
			require.NoError(t, err, line)
			require.Equal(t, fmt.Sprintf("<%d line %d %s>", rank, i, strings.Repeat("x", i%100)), line)
			require.Equal(t, next[rank], i, "lines of a rank stay in order")
			if tag {
				require.Equal(t, rank, tagged)
			}
			next[rank]++
		}
	}
}

// TestBytesOfOneRank: what one rank alone writes arrives as it is, whatever it
// is.
func TestBytesOfOneRank(t *testing.T) {
	for _, text := range []string{
		"no newline at the end",
		"\n\n",
		"\x00\xff\x1b[0m\r\n",
		strings.Repeat("long", 100<<10),
		strings.Repeat("x", maxHeld) + "\n" + strings.Repeat("y", maxHeld-1) + "\n" + strings.Repeat("z", 3*maxHeld),
	} {
		read, write, err := os.Pipe()
		require.NoError(t, err)
		go func() {
			_, _ = io.WriteString(write, text)
			_ = write.Close()
		}()
		c, out := playing(t, "copy", 1)
		c.Stdin = read
		require.NoError(t, Run(context.Background(), c))
		assert.True(t, text == out.String(), "%d bytes came as %d others", len(text), len(out.String()))
		require.NoError(t, read.Close())
	}
}

// TestUnfinishedLinesDoNotMix plays writes of two streams in a given order.
func TestUnfinishedLinesDoNotMix(t *testing.T) {
	out := transcript.New()
	c := newConsole()
	k := c.sink(out)
	defer k.close()
	a, b := &stream{sink: k, prefix: "[a] "}, &stream{sink: k, prefix: "[b] "}
	k.write(a, []byte("one\ntw"))
	k.write(a, []byte("o\nthr"))
	k.write(b, []byte("hello\n"))
	k.write(a, []byte("ee\nend"))
	k.note("note\n")
	k.write(b, []byte("bye"))
	k.finishLine()
	assert.Equal(t, "[a] one\n[a] two\n[a] thr\n[b] hello\n[a] ee\n[a] end\nnote\n[b] bye\n", out.String())
}
