// Hello is the program of the README: every rank greets rank 0.
//
//	strand run -n 4 bin/hello
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/strandmp/strand"
)

func main() {
	err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() > 0 {
			return c.Send(ctx, fmt.Appendf(nil, "rank %d on %s", c.Rank(), w.Hostname()), 0, 7)
		}
		buf := make([]byte, 256)
		for range c.Size() - 1 {
			st, err := c.Recv(ctx, buf, strand.AnySource, 7)
			if err != nil {
				return err
			}
			fmt.Printf("hello from %s\n", buf[:st.Count])
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
}
