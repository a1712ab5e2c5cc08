package tryout

import (
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// silentGuests connect from an address, say nothing, and have an end at the end of the test.
func silentGuests(t *testing.T, d *Doors, from string, n int) {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	for range n {
		c, err := dialer.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", d.ports[0]))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
	}
}

// The doors have as many strangers as they can: a guest that knows the token is answered all the
// same.
func TestDoorAmongStrangers(t *testing.T) {
	for name, from := range map[string]string{"from another host": "127.0.0.9", "from the same host": "127.0.0.1"} {
		t.Run(name, func(t *testing.T) {
			const token = "0123456789abcdef0123456789abcdef"
			d, err := Open(loopback().Addresses[:1], token, generous, Ports{})
			require.NoError(t, err)
			defer d.Close()
			silentGuests(t, d, from, 2*mostGuests)
			c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", d.ports[0]))
			require.NoError(t, err)
			defer c.Close()
			require.NoError(t, c.SetDeadline(time.Now().Add(generous)))
			_, err = io.WriteString(c, knock+token+"\n")
			require.NoError(t, err)
			said, err := io.ReadAll(c)
			require.NoError(t, err)
			require.Contains(t, string(said), answer)
		})
	}
}
