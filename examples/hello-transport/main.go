// Hello-transport is a program that brings a transport of its own: the blank
// import is all it takes.
//
//	go build -o hello-transport .
//	strand run -n 4 --btl unix,self ./hello-transport
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/strandmp/strand"

	_ "github.com/strandmp/strand/examples/hello-transport/unixsock" // --btl unix
)

func main() {
	err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		return greet(ctx, w, os.Stdout)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "hello-transport:", err)
		os.Exit(1)
	}
}

// greet has every rank greet the next one; rank 0 tells what has carried its own
// greeting.
func greet(ctx context.Context, w *strand.World, out io.Writer) error {
	c := w.Comm()
	next, previous := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	buf := make([]byte, 64)
	st, err := c.Sendrecv(ctx, fmt.Appendf(nil, "hello from rank %d", c.Rank()), next, 0, buf, previous, 0)
	if err != nil || c.Rank() != 0 {
		return err
	}
	fmt.Fprintf(out, "%s\n", buf[:st.Count])
	for _, r := range w.Rails() {
		fmt.Fprintf(out, "rank %d is served by %s: %s\n", r.Peer, r.Component, r.Desc)
	}
	return nil
}
