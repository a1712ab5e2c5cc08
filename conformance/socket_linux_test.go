package conformance

import (
	"net"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The suite treats sockets of packets that keep their order (SOCK_SEQPACKET) as it does streams: it
// cuts them, writes to them and dials them.
func TestSocketsOfPackets(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s")
	listener, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(listener)
	if err := unix.Bind(listener, &unix.SockaddrUnix{Name: name}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(listener, 1); err != nil {
		t.Fatal(err)
	}
	if isConnected(listener) {
		t.Error("a socket that listens counts as connected")
	}
	network, address := place(listener)
	stranger, err := net.Dial(network, address)
	if err != nil {
		t.Fatalf("nobody can connect as a stranger: %v", err)
	}
	defer stranger.Close()
	fd, _, err := unix.Accept(listener)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if !isConnected(fd) {
		t.Error("a connected socket does not count as one")
	}
}
