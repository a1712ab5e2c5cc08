package tcp

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
)

var _ btl.Aborter = (*endpoint)(nil)

// Abort implements [btl.Aborter]: the connection is reset, and what either system
// still holds of it is lost.
func (ep *endpoint) Abort() {
	if ep.gone {
		return
	}
	if ep.state == stateConnected {
		ep.watch.Stop()
		ep.watch = nil
		rawio.Reset(ep.conn.FD())
		ep.tell(btl.LogInfo, "failed", ep.Desc(), ep.epoch, ", given up by this side")
		ep.state = stateFailed
	}
	_ = ep.Close()
}
