package compare

import (
	"fmt"
	"strings"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/workload"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/param"
)

// factsOf is what rank 0 knows of how its transport works here.
func factsOf(w *strand.World, o *workload.Outcome, transport string) map[string]string {
	facts := map[string]string{results.FactOrdering: w.Params().String("pml_ordering")}
	prefix, ownControl := "btl_"+transport+"_", false
	for _, v := range w.Params().All() {
		name, own := strings.CutPrefix(v.Spec.Name, prefix)
		if !own {
			continue
		}
		switch name {
		case "streams":
			facts[results.FactStreams] = v.Text
		case "links":
			facts[results.FactConnections] = v.Text
		case "congestion":
			ownControl = v.Spec.Kind == param.Enum // else it is whatever the kernel has
		case "nodelay":
			facts[results.FactNagle] = onOff(!w.Params().Bool(v.Spec.Name))
		case "sndbuf":
			facts[results.FactSendBuffer] = bufferText(v.Text, rawio.SetSendBuffer, rawio.SendBuffer)
		case "rcvbuf":
			facts[results.FactReceiveBuffer] = bufferText(v.Text, rawio.SetReceiveBuffer, rawio.ReceiveBuffer)
		}
	}
	for _, c := range o.Members[0].Connections {
		if c.Component != transport || c.Peer == 0 {
			continue
		}
		facts[results.FactStack] = stackOf(c.Module, ownControl)
		if c.Algorithm != "" {
			facts[results.FactCongestion] = c.Algorithm
		}
	}
	return facts
}

// stackOf says who speaks the protocol, repeats what is lost and bounds what is under way. Of a transport that has it both ways the
// module says so in its name, as sctp/user does. Else it is who controls congestion, so that udp's is not the kernel's.
func stackOf(module string, ownControl bool) string {
	_, who, _ := strings.Cut(module, "/")
	if who == "user" || who != "kernel" && ownControl {
		return "user space"
	}
	return "kernel"
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// bufferText says what a socket gets that asks for a buffer of so many bytes. The system gives less than that where it allows less,
// and does not say so; what is asked for may be a transport's own default.
func bufferText(asked string, set func(fd, n int) error, get func(fd int) (int, error)) string {
	size, err := param.ParseSize(asked)
	if err != nil {
		return asked // by a transport that says it otherwise
	}
	if size == 0 {
		return "left to the stack"
	}
	fd, err := rawio.Stream(anyAddress)
	if err != nil {
		return asked
	}
	defer rawio.Close(fd)
	if set(fd, int(size)) != nil {
		return asked
	}
	if got, err := get(fd); err == nil && int64(got) < size {
		return fmt.Sprintf("%s, asked for %s", param.FormatSize(int64(got)), asked)
	}
	return asked
}
