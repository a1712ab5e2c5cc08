package job

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// An output is shared with others, by a shell: ssh, for one, has its own not block, and the flag is that of the pipe, not of the
// process. Then a reader that is behind is waited for as before.
func TestOutputThatOthersMakeNonBlocking(t *testing.T) {
	var ends [2]int
	require.NoError(t, unix.Pipe(ends[:]))
	read, write := os.NewFile(uintptr(ends[0]), "read"), os.NewFile(uintptr(ends[1]), "write") // as os.Stdout is: not in Go's poller
	defer func() { _ = read.Close() }()
	require.NoError(t, unix.SetNonblock(ends[1], true))
	full := 0
	for {
		n, err := unix.Write(ends[1], make([]byte, 4096))
		if err == unix.EAGAIN {
			break
		}
		require.NoError(t, err)
		full += n
	}
	text, got := strings.Repeat("x", 1<<20)+"\n", make(chan string, 1)
	c := newConsole()
	k := c.sink(write)
	go func() {
		all, _ := io.ReadAll(onePage{read})
		got <- string(all)
	}()
	k.write(&stream{sink: k}, []byte(text))
	k.close()
	require.NoError(t, write.Close())
	assert.True(t, text == (<-got)[full:])
	select {
	case err := <-c.failure:
		t.Error(err)
	default:
	}
}

// onePage reads a page at a time, so that the pipe is full nearly always.
type onePage struct{ io.Reader }

func (r onePage) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 4096)]) }
