package emulate

// Counters count frames, from one host to another or summed up. Every frame that a path was given
// is somewhere: Sent + Duplicated = Lost + Cut + DroppedOut + DroppedIn + Delivered + those still
// on their way.
type Counters struct {
	Sent      uint64 `json:"sent"`
	SentBytes uint64 `json:"sent_bytes"` // with Ethernet headers

	DroppedOut uint64 `json:"dropped_out,omitzero"` // the sender's queue was full
	Lost       uint64 `json:"lost,omitzero"`
	Cut        uint64 `json:"cut,omitzero"` // the network was down
	Corrupted  uint64 `json:"corrupted,omitzero"`
	Duplicated uint64 `json:"duplicated,omitzero"`
	Reordered  uint64 `json:"reordered,omitzero"`  // held back, whether overtaken or not
	DroppedIn  uint64 `json:"dropped_in,omitzero"` // the receiver's queue was full

	Delivered      uint64 `json:"delivered"`
	DeliveredBytes uint64 `json:"delivered_bytes"`
}

// Add adds the counters of another path.
func (c *Counters) Add(o Counters) {
	c.Sent += o.Sent
	c.SentBytes += o.SentBytes
	c.DroppedOut += o.DroppedOut
	c.Lost += o.Lost
	c.Cut += o.Cut
	c.Corrupted += o.Corrupted
	c.Duplicated += o.Duplicated
	c.Reordered += o.Reordered
	c.DroppedIn += o.DroppedIn
	c.Delivered += o.Delivered
	c.DeliveredBytes += o.DeliveredBytes
}
