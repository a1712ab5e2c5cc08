package pmi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// ask sends a request and returns its answer.
func (c *Client) ask(ctx context.Context, request Message, answer string) (m Message, err error) {
	line, err := request.Format()
	if err != nil {
		return Message{}, err
	}
	err = c.exclusively(ctx, func() error {
		// One write a request: launchers may parse what one read gives.
		if n, err := c.conn.Write(line); err != nil {
			if n > 0 {
				c.fault = errCut
			}
			return err
		}
		c.owed = answer
		m, err = c.receiveOwed()
		return err
	})
	if err != nil {
		return Message{}, fmt.Errorf("pmi: %s: %w", request.Command, err)
	}
	return m, nil
}

// errCut: the context ended while the launcher took a request. What followed would be read as the rest of it.
var errCut = errors.New("pmi: an earlier request ended in the middle, as the launcher did not read")

// exclusively runs talk when it is this caller's turn, after it has read a late answer that is
// still owed. The end of the context ends what the connection reads and writes.
func (c *Client) exclusively(ctx context.Context, talk func() error) error {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if c.fault != nil {
		return c.fault
	}
	release := c.bound(ctx)
	err := c.passOver()
	if err == nil {
		err = talk()
	}
	release()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, net.ErrClosed):
		err = ErrClosed
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		err = fmt.Errorf("%w (%w): it has ended, or ended the job", ErrGone, err)
	}
	c.fault = err
	return err
}

// bound lets reads and writes fail when the context ends, until the returned
// function is called.
func (c *Client) bound(ctx context.Context) (release func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(fired)
		_ = c.conn.SetDeadline(time.Unix(1, 0)) // fails only if closed: reads and writes fail then too
	})
	return func() {
		if !stop() {
			<-fired
			_ = c.conn.SetDeadline(time.Time{})
		}
	}
}

// passOver reads the answer that an earlier caller did not wait for.
func (c *Client) passOver() error {
	if c.owed == "" {
		return nil
	}
	_, err := c.receiveOwed()
	return err
}

func (c *Client) receiveOwed() (Message, error) {
	m, err := c.expect(c.owed)
	if err == nil {
		c.owed = ""
	}
	return m, err
}

// expect reads a line, which must be the given answer.
func (c *Client) expect(command string) (Message, error) {
	line, err := c.lines.line()
	if err != nil {
		return Message{}, err
	}
	m, err := Parse(line)
	if err != nil {
		return Message{}, err
	}
	if m.Command != command {
		return Message{}, fmt.Errorf("pmi: the launcher answered cmd=%s where cmd=%s was due: does another program of this rank talk to it too, as in a script?", quote(m.Command), command)
	}
	return m, nil
}
