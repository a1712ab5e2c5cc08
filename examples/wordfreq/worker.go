package main

import (
	"context"

	"github.com/strandmp/strand"
)

// work counts the words of every file that rank 0 sends, until it says stop. The
// answer to a file has the file's tag.
func work(ctx context.Context, requests, results *strand.Comm) error {
	var text, answer []byte
	seen := make(counts)
	for {
		st, b, err := receive(ctx, requests, 0, text)
		if err != nil {
			return err
		}
		if st.Tag == tagStop {
			return nil
		}
		text = b
		clear(seen)
		seen.addText(text)
		answer = seen.append(answer[:0])
		if err := results.Send(ctx, answer, 0, st.Tag); err != nil {
			return err
		}
	}
}

// receive takes the next message with any tag, however long it is, into buf or
// into a larger buffer.
func receive(ctx context.Context, c *strand.Comm, source int, buf []byte) (strand.Status, []byte, error) {
	m, err := c.Mprobe(ctx, source, strand.AnyTag)
	if err != nil {
		return strand.Status{}, nil, err
	}
	if n := m.Status().Count; n > cap(buf) {
		buf = make([]byte, n)
	}
	st, err := m.Recv(ctx, buf[:cap(buf)])
	return st, buf[:st.Count], err
}
