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

// What a frame is part of.
const (
	ofPMI     = iota // the conversation of rank and launcher
	ofControl        // what PMI has no words for, package control
	ofOutput         // what the rank tells on its standard output
	parts
)

// longest is the most bytes of a frame, without its head.
const longest = 64 << 10

const headBytes = 5

// A sender writes frames, each in one piece.
type sender struct {
	mu  sync.Mutex
	out io.Writer
}

// send writes at most longest bytes; none end the part.
func (s *sender) send(part byte, p []byte) error {
	frame := make([]byte, headBytes, headBytes+len(p))
	frame[0] = part
	binary.LittleEndian.PutUint32(frame[1:], uint32(len(p)))
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.out.Write(append(frame, p...))
	return err
}

// forward sends what comes from a socket until that ends.
func (s *sender) forward(part byte, from net.Conn) {
	buf := make([]byte, longest/2)
	for {
		n, err := from.Read(buf)
		if n > 0 && s.send(part, buf[:n]) != nil {
			return // the other side has gone, which its reader finds
		}
		if err != nil {
			_ = s.send(part, nil)
			return
		}
	}
}

// output is a part as a writer.
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

// deliver hands out frames, by part, until there are no more: that is nil. A part that takes
// no more loses what is left of it.
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
