package remote

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// The parts to which frames belong.
const (
	ofPMI     = iota // the conversation of rank and launcher
	ofControl        // the channel of package control
	ofOutput         // the output of the rank
	parts
)

// longest is the most bytes in the content of a frame.
const longest = 64 << 10

const headBytes = 5

// A sender writes frames, each in one piece.
type sender struct {
	mu  sync.Mutex
	out io.Writer
}

// send writes a frame with at most longest bytes. A frame with none ends the part.
func (s *sender) send(part byte, p []byte) error {
	frame := make([]byte, headBytes, headBytes+len(p))
	frame[0] = part
	binary.LittleEndian.PutUint32(frame[1:], uint32(len(p)))
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.out.Write(append(frame, p...))
	return err
}

// forward sends what comes from a socket, and at its end the end of the part.
func (s *sender) forward(part byte, from net.Conn) {
	buf := make([]byte, longest/2)
	for {
		n, err := from.Read(buf)
		if n > 0 && s.send(part, buf[:n]) != nil {
			return // the other side has gone, as whoever reads from it finds out
		}
		if err != nil {
			_ = s.send(part, nil)
			return
		}
	}
}

// output is a writer to the part ofOutput.
type output struct{ *sender }

func (o output) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		n := min(len(p)-written, longest)
		if err := o.send(ofOutput, p[written:written+n]); err != nil {
			return written, err
		}
		written += n
	}
	return written, nil
}

// deliver writes the content of frames to the writers of their parts. At the end of the input it
// returns nil. What a writer does not take is lost.
func deliver(in *bufio.Reader, to [parts]io.WriteCloser) error {
	buf := make([]byte, longest)
	for {
		var head [headBytes]byte
		if _, err := io.ReadFull(in, head[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		part, n := int(head[0]), binary.LittleEndian.Uint32(head[1:])
		if part >= parts || to[part] == nil || n > longest {
			return fmt.Errorf("a frame of %d bytes for part %d: want at most %d for one of %d", n, part, longest, parts)
		}
		if _, err := io.ReadFull(in, buf[:n]); err != nil {
			return err
		}
		if n == 0 {
			_ = to[part].Close()
			continue
		}
		_, _ = to[part].Write(buf[:n])
	}
}
