package pmi

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkStart is what wire-up costs a job: each rank puts its address, all
// meet in a barrier, each reads two others' addresses. One op is a whole job.
func BenchmarkStart(b *testing.B) {
	for _, size := range []int{16, 256} {
		b.Run(fmt.Sprintf("ranks=%d", size), func(b *testing.B) {
			ctx := context.Background()
			for b.Loop() {
				newJob(b, size).each(b, func(rank int, c *Client) error {
					if err := c.Init(ctx); err != nil {
						return err
					}
					if err := c.Put(ctx, fmt.Sprintf("address/%d", rank), "10.0.0.1:40000"); err != nil {
						return err
					}
					if err := c.Barrier(ctx); err != nil {
						return err
					}
					for _, peer := range []int{(rank + 1) % size, (rank + size - 1) % size} {
						if _, err := c.Get(ctx, fmt.Sprintf("address/%d", peer)); err != nil {
							return err
						}
					}
					return c.Close(ctx)
				})
			}
		})
	}
}
