package tcp

import (
	"errors"
	"io"
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
)

// A talk is a socket while the handshake is under way.
type talk struct {
	m     *module
	conn  rawio.Conn
	watch btl.Watch
	timer btl.Timer
	out   []byte // still to be sent
}

// send writes what is waiting as far as there is room.
func (t *talk) send() error {
	for len(t.out) > 0 {
		n, errno := t.conn.Send(t.out)
		if errno == syscall.EAGAIN {
			t.watch.Write(true)
			return nil
		}
		if errno != 0 {
			return errno
		}
		t.out = t.out[n:]
	}
	t.out = nil
	t.watch.Write(false)
	return nil
}

// receive reads at most n bytes into the module's scratch memory. Nothing and
// no error means that there is nothing now.
func (t *talk) receive(n int) ([]byte, error) {
	b := t.m.scratch[:n]
	n, errno := t.conn.Recv(b)
	switch {
	case errno == syscall.EAGAIN:
		return nil, nil
	case errno != 0:
		return nil, errno
	case n == 0:
		return nil, io.EOF
	}
	return b[:n], nil
}

// ended looks, without a message being due, whether the peer has gone.
func (t *talk) ended() error {
	b, err := t.receive(1)
	if err == nil && len(b) > 0 {
		return errors.New("it goes on before it was let in")
	}
	return err
}

// release ends the watch and the timer and gives the socket away.
func (t *talk) release() rawio.Conn {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	if t.watch != nil {
		t.watch.Stop()
		t.watch = nil
	}
	return t.conn
}

// close ends the talk with its socket.
func (t *talk) close() {
	c := t.release()
	rawio.Close(c.FD())
}
