package strand

import (
	"github.com/strandmp/strand/internal/trace"
	"github.com/strandmp/strand/launch"
)

// recorder is what records what happens to messages, if strand run --trace has started this process;
// else it is nil.
func (o *options) recorder(job launch.Job) *trace.Recorder {
	if !o.launched || job.Launcher() != "strand run" {
		return nil
	}
	return trace.Inherited()
}

// traceCall records the begin of a collective call, if there is a recorder. It returns the number of
// the call for traceCalled.
func (c *Comm) traceCall(name string, number int64) uint64 {
	t := c.world.pml.Trace()
	if t == nil {
		return 0
	}
	return t.Begin(trace.Event{Kind: trace.CallBegun, Context: c.coll.ID(), Seq: uint32(number), Name: t.Name(name)})
}

func (c *Comm) traceCalled(call uint64, err error) {
	if call != 0 {
		c.world.pml.Trace().Record(trace.Event{Kind: trace.CallOver, Op: call, Failed: err != nil})
	}
}
