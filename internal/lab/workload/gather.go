package workload

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/strandmp/strand"
)

// memberTag is the tag of messages in which a rank tells rank 0 of itself. Workloads use the same
// communicator, and some of them this tag. But their messages are all received before the barrier
// that comes first.
const memberTag = 0

// gather brings what every rank has to tell to rank 0, once all have ended.
func gather(ctx context.Context, c *strand.Comm, own Member) ([]Member, error) {
	if c.Rank() != 0 {
		text, err := json.Marshal(own)
		if err != nil {
			return nil, err
		}
		return nil, c.Send(ctx, text, 0, memberTag)
	}
	all := []Member{own}
	for rank := 1; rank < c.Size(); rank++ {
		st, err := c.Probe(ctx, rank, memberTag)
		if err != nil {
			return nil, err
		}
		text := make([]byte, st.Count)
		if _, err := c.Recv(ctx, text, rank, memberTag); err != nil {
			return nil, err
		}
		var m Member
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, fmt.Errorf("what rank %d tells of itself: %w", rank, err)
		}
		if m.Rank != rank {
			return nil, fmt.Errorf("rank %d says that it is rank %d", rank, m.Rank)
		}
		all = append(all, m)
	}
	return all, nil
}
