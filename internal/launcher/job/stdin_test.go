package job

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pipe stands for the terminal: the pump asks no more of one.

func TestPump(t *testing.T) {
	terminal, keyboard, err := os.Pipe()
	require.NoError(t, err)
	defer terminal.Close()
	input, release, err := pump(terminal, nil)
	require.NoError(t, err)
	defer release()

	_, err = keyboard.WriteString("typed\n")
	require.NoError(t, err)
	got := make([]byte, 6)
	_, err = io.ReadFull(input, got)
	require.NoError(t, err)
	assert.Equal(t, "typed\n", string(got))

	require.NoError(t, keyboard.Close())
	_, err = input.Read(got)
	assert.Equal(t, io.EOF, err, "the end of the input is passed on")
}

func TestPumpIsReleased(t *testing.T) {
	for _, typed := range []int{0, 1 << 20} { // nothing, and more than anybody reads
		terminal, keyboard, err := os.Pipe()
		require.NoError(t, err)
		_, release, err := pump(terminal, nil)
		require.NoError(t, err)
		typing := make(chan struct{})
		go func() {
			defer close(typing)
			_, _ = keyboard.Write(make([]byte, typed))
		}()
		release()
		require.NoError(t, terminal.Close())
		<-typing
		require.NoError(t, keyboard.Close())
	}
}
